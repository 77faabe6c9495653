// The warps of a block by a schedule (state/schedule.hpp): turns in any order, which end wherever the schedule says.
#include <algorithm>
#include <utility>

#include "simulator/execution/block_runner.hpp"
#include "simulator/state/asynchronous_copy.hpp"

namespace convladder::simulated {

/// The warps that can run and do more than repeat themselves.
std::vector<int> BlockRunner::warps_that_can_run() const {
  const std::uint64_t changes = memory_changes();
  std::vector<int> can;
  for (const Warp& warp : warps_) {
    if (warp.status == WarpStatus::running && !warp.spin.waits(changes)) can.push_back(warp.state.index);
  }
  return can;
}

BlockProgress BlockRunner::go_on_by(Schedule& schedule, const BlockPatience& patience) {
  std::uint32_t turns = schedule.turns();
  while (any_running()) {
    if (schedule.lands_between_turns()) land_one(schedule);
    const std::vector<int> can = warps_that_can_run();
    if (can.empty()) {
      if (land_all_arrivals() || release_met()) continue;
      waits_since_ = changes_for_others();
      return BlockProgress::waits;
    }
    Warp& warp = warps_[static_cast<std::size_t>(can[schedule.next_warp(context_.block_number, can)])];
    run_turn(warp);
    schedule.turn_ended(context_.block_number, warp.state.index, !warp.is_interrupted);
    if (has_trapped_) break;
    if (--turns == 0 || schedule.leaves_block()) return BlockProgress::yields;
    if (const auto progress = look_at_patience(patience)) return *progress;
  }
  return progress_of_last_turns();
}

/// As `run_plain`, for an order in which the warp may be interrupted.
int BlockRunner::run_plain_by_schedule(Warp& warp, LaneMask active, int at, int end) {
  const Operation* const operations = program_.operations.data();
  while (at < end && operations[at].kind == OperationKind::plain) {
    const auto instruction = static_cast<std::size_t>(operations[at].instruction);
    int behind = at + 1;
    const auto is_same = [&](int one) {
      return one < end && operations[one].kind == OperationKind::plain &&
             static_cast<std::size_t>(operations[one].instruction) == instruction;
    };
    while (is_same(behind)) ++behind;
    if (program_.is_point[instruction] && !std::exchange(warp.is_interrupted, false)) {
      warp.is_interrupted = context_.schedule->interrupts(context_.block_number, warp.state.index);
      if (warp.is_interrupted) return at;
    }
    const LaneMask first = program_.stores_by_lane[instruction] ? context_.schedule->first_of(active) : active;
    run_plain(warp.state, first, at, behind);
    if (first != active) run_plain(warp.state, active & ~first, at, behind);
    at = behind;
  }
  return at;
}

/// Lets one of the copies on their way take effect.
void BlockRunner::land_one(Schedule& schedule) {
  const std::size_t arrivals = context_.arrivals.size();
  const std::size_t grouped = context_.bulk_groups.under_way();
  const std::size_t which = schedule.which_of(arrivals + grouped + warps_.size());
  if (which < arrivals) {
    const auto place = context_.arrivals.begin() + static_cast<std::ptrdiff_t>(which);
    const PendingArrival arrival = std::move(*place);
    context_.arrivals.erase(place);
    arrival.land();
  } else if (which < arrivals + grouped) {
    context_.bulk_groups.land_one(which - arrivals);
  } else {
    const WarpState& warp = warps_[which - arrivals - grouped].state;
    PendingCopies& copies = context_.copies[which - arrivals - grouped];
    constexpr std::uint64_t kMostLeft = 3;  // of the latest copies
    const std::uint64_t begun = copies.begun();
    if (begun > 0) land_copies(warp, kAllLanes, begun - schedule.which_of(std::min(begun, kMostLeft + 1)));
  }
}

/// All that is on its way to mbarriers of the block comes; false if nothing is.
bool BlockRunner::land_all_arrivals() {
  if (context_.arrivals.empty()) return false;
  const std::vector<PendingArrival> arrivals = std::exchange(context_.arrivals, {});
  for (const PendingArrival& arrival : arrivals) arrival.land();
  return true;
}

}  // namespace convladder::simulated
