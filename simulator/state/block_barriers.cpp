#include "simulator/state/block_barriers.hpp"

#include <fmt/format.h>

#include <utility>

namespace convladder::simulated {

void BlockBarriers::begin_block(int warps) {
  barriers_.fill({});
  warps_ = static_cast<std::uint32_t>((std::uint64_t{1} << warps) - 1);
  exited_ = 0;
}

BlockBarriers::Mismatch BlockBarriers::arrive(const Arrival& arrival) {
  Barrier& barrier = barriers_[arrival.barrier];
  if (barrier.arrived != 0 && barrier.threads != arrival.threads) return {true, barrier.threads};
  barrier.threads = arrival.threads;
  barrier.arrived += kLanes;
  barrier.warps |= std::uint32_t{1} << arrival.warp;
  barrier.count += static_cast<std::uint32_t>(std::popcount(arrival.predicate & arrival.lanes));
  barrier.all = barrier.all && (~arrival.predicate & arrival.lanes) == 0;
  barrier.any = barrier.any || (arrival.predicate & arrival.lanes) != 0;
  return {};
}

bool BlockBarriers::is_complete(std::uint32_t barrier) const {
  const Barrier& state = barriers_[barrier];
  if (state.arrived == 0) return false;
  if (state.threads != 0) return state.arrived >= state.threads;
  return ((state.warps | exited_) & warps_) == warps_;
}

std::uint32_t BlockBarriers::result(std::uint32_t barrier, BarrierAction action) const {
  const Barrier& state = barriers_[barrier];
  if (action == BarrierAction::count) return state.count;
  return (action == BarrierAction::all ? state.all : state.any) ? kAllLanes : 0;
}

std::uint32_t BlockBarriers::release(std::uint32_t barrier) {
  return std::exchange(barriers_[barrier], Barrier{}).warps;
}

std::string BlockBarriers::describe(std::uint32_t barrier) const {
  const Barrier& state = barriers_[barrier];
  const std::uint32_t awaited =
      state.threads != 0 ? state.threads : static_cast<std::uint32_t>(kLanes * std::popcount(warps_ & ~exited_));
  const std::string name = barrier == kOfCluster  ? "the cluster's barrier"
                           : barrier >= kOfGroups ? "a product of four warps"
                                                  : fmt::format("barrier {}", barrier);
  return fmt::format("{}, where {} of {} threads have arrived", name, state.arrived, awaited);
}

}  // namespace convladder::simulated
