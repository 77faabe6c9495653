// Moves between registers, and addresses from one state space to another (PTX ISA 9.0, 9.7.9: mov, cvta,
// isspacep).

#include "simulator/instructions/arithmetic/lane_functions.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/state/cluster.hpp"

namespace convladder::simulated {
namespace {

template <typename T>
void move(WarpState& warp, const Operation& operation) {
  const T* source = warp.read<T>(operation.operands[1]);
  write_lanes(warp.write<T>(operation.operands[0]), warp.mask, [=](int lane) { return source[lane]; });
}

/// cvta: into a state space's window of the generic addresses, or out of it.
template <std::uint64_t kDistance>
void shift_address(WarpState& warp, const Operation& operation) {
  const auto* source = warp.read<std::uint64_t>(operation.operands[1]);
  write_lanes(warp.write<std::uint64_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return source[lane] + kDistance; });
}

/// isspacep: whether a generic address lies in [kBegin, kEnd), or outside of it.
template <std::uint64_t kBegin, std::uint64_t kEnd, bool kInside>
void is_in_window(WarpState& warp, const Operation& operation) {
  const auto* address = warp.read<std::uint64_t>(operation.operands[1]);
  LaneMask inside = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    inside |= LaneMask{(address[lane] >= kBegin && address[lane] < kEnd) == kInside} << lane;
  }
  auto* const destination = warp.write<LaneMask>(operation.operands[0]);
  *destination = (*destination & ~warp.mask) | (inside & warp.mask);
}

/// isspacep.shared: whether a generic address lies in the shared memory of the own block.
void is_in_own_block(WarpState& warp, const Operation& operation) {
  const auto* address = warp.read<std::uint64_t>(operation.operands[1]);
  const std::uint64_t own_window = kSharedWindow + warp.block->shared_begin;
  LaneMask inside = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    inside |= LaneMask{(address[lane] - own_window) >> kRankShift == 0} << lane;
  }
  write_predicate(warp.write<LaneMask>(operation.operands[0]), warp.mask, inside);
}

}  // namespace

void add_data_movement_forms(FormTable& table) {
  for (const char* type : {"b16", "u16", "s16", "b32", "u32", "s32", "f32"}) {
    table.add(fmt::format("mov.{}", type), {OperandUse::write_32, OperandUse::read_32}, &move<std::uint32_t>, 0,
              &for_each_in_lockstep<&move<std::uint32_t>>);
  }
  for (const char* type : {"b64", "u64", "s64", "f64"}) {
    table.add(fmt::format("mov.{}", type), {OperandUse::write_64, OperandUse::read_64}, &move<std::uint64_t>, 0,
              &for_each_in_lockstep<&move<std::uint64_t>>);
  }
  const std::vector<OperandUse> address{OperandUse::write_64, OperandUse::read_64};
  for (const char* space : {"global", "const"}) {  // their addresses are generic addresses unchanged
    table.add(fmt::format("cvta.{}.u64", space), address, &move<std::uint64_t>, 0,
              &for_each_in_lockstep<&move<std::uint64_t>>);
    table.add(fmt::format("cvta.to.{}.u64", space), address, &move<std::uint64_t>, 0,
              &for_each_in_lockstep<&move<std::uint64_t>>);
  }
  for (const char* space : {"shared", "shared::cta", "shared::cluster"}) {
    table.add(fmt::format("cvta.{}.u64", space), address, &shift_address<kSharedWindow>);
    table.add(fmt::format("cvta.to.{}.u64", space), address, &shift_address<0 - kSharedWindow>);
  }
  table.add("cvta.local.u64", address, &shift_address<kLocalWindow>);
  table.add("cvta.to.local.u64", address, &shift_address<0 - kLocalWindow>);
  for (const char* space : {"param", "param::entry"}) {
    table.add(fmt::format("cvta.{}.u64", space), address, &shift_address<kParameterWindow>);
    table.add(fmt::format("cvta.to.{}.u64", space), address, &shift_address<0 - kParameterWindow>);
  }
  const std::vector<OperandUse> test{OperandUse::write_predicate, OperandUse::read_64};
  constexpr std::uint64_t kEnd = kParameterWindow + (kParameterWindow - kLocalWindow);
  for (const char* space : {"shared", "shared::cta"}) {
    table.add(fmt::format("isspacep.{}", space), test, &is_in_own_block);
  }
  table.add("isspacep.shared::cluster", test, &is_in_window<kSharedWindow, kLocalWindow, true>);
  table.add("isspacep.local", test, &is_in_window<kLocalWindow, kParameterWindow, true>);
  for (const char* space : {"param", "param::entry"}) {
    table.add(fmt::format("isspacep.{}", space), test, &is_in_window<kParameterWindow, kEnd, true>);
  }
  table.add("isspacep.global", test, &is_in_window<kSharedWindow, kEnd, false>);
}

}  // namespace convladder::simulated
