#include "devices/simulated/execution/block_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace convladder::simulated {
namespace {

constexpr std::size_t kAlignment = 64;

std::uint64_t thread_count(const Dim3& dim) { return std::uint64_t{dim.x} * dim.y * dim.z; }

std::byte* aligned(std::vector<std::byte>& bytes) {
  void* at = bytes.data();
  std::size_t space = bytes.size();
  return static_cast<std::byte*>(std::align(kAlignment, 1, at, space));
}

LaneMask guard_mask(const WarpState& state, const Operation& operation, LaneMask active) {
  const LaneMask guard = *state.read<LaneMask>(operation.guard);
  return active & (operation.guard_negated ? ~guard : guard);
}

}  // namespace

BlockRunner::BlockRunner(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration)
    : program_(program),
      configuration_(configuration),
      threads_(thread_count(configuration.block)),
      warps_((threads_ + kLanes - 1) / kLanes),
      constants_(program.constants),
      registers_(static_cast<std::size_t>(program.register_bytes) * warps_.size() + kAlignment) {
  context_.program = &program;
  context_.memory = &memory;
  context_.block_size = configuration.block;
  context_.shared.resize(program.static_shared_bytes + configuration.dynamic_shared_bytes);
  context_.local.resize(std::size_t{program.local_bytes} * kLanes * warps_.size());
  context_.parameters = configuration.parameters.data();
  context_.counters.resize(program.kernel->instructions.size());
  context_.ranges.resize(program.kernel->instructions.size());
  block_warps_.resize(program.blocks.size());
  block_lanes_.resize(program.blocks.size());
  prepare_warps();
  fill_constants(program.special.block_size, configuration.block);
  fill_constants(program.special.grid_size, configuration.grid);
}

void BlockRunner::run(const Dim3& block, std::uint64_t number) {
  context_.block_index = block;
  context_.block_number = number;
  fill_constants(program_.special.block_index, context_.block_index);
  std::ranges::fill(context_.shared, std::byte{0});
  for (Warp& warp : warps_) {
    warp.live = first_lanes(warp.state.index);
    warp.paths.assign(1, {static_cast<int>(program_.operations.size()), 0, warp.live});
    warp.status = WarpStatus::running;
    for (const auto& [offset, bytes] : program_.zeroed) std::memset(warp.state.bases[0] + offset, 0, bytes);
  }
  for (AccessObserver* const observer : context_.observers) observer->block_begins(context_);
  // Warps take turns from barrier to barrier, in order: the interleaving is the same in every run.
  for (std::uint32_t met = 1; met != 0;) {
    met = 0;
    for (Warp& warp : warps_) {
      if (warp.status == WarpStatus::running) run_to_barrier(warp);
    }
    for (Warp& warp : warps_) {
      if (warp.status != WarpStatus::at_barrier) continue;
      warp.status = WarpStatus::running;
      met |= std::uint32_t{1} << warp.state.index;
    }
    if (met == 0) continue;
    for (AccessObserver* const observer : context_.observers) observer->barrier_passed(context_, met);
  }
}

std::vector<InstructionCounters> BlockRunner::counters() const {
  std::vector<InstructionCounters> result = context_.counters;
  for (std::size_t b = 0; b < program_.blocks.size(); ++b) {
    int previous = -1;
    for (int i = program_.blocks[b].first; i < program_.blocks[b].end; ++i) {
      const Operation& operation = program_.operations[i];
      if (operation.instruction == previous) continue;  // one instruction may take several operations
      previous = operation.instruction;
      if (operation.guarded && operation.kind != OperationKind::branch) continue;  // counted one by one
      result[operation.instruction].warps += block_warps_[b];
      result[operation.instruction].lanes += block_lanes_[b];
    }
  }
  return result;
}

LaneMask BlockRunner::first_lanes(int warp) const {
  const std::uint64_t left = threads_ - static_cast<std::uint64_t>(warp) * kLanes;
  return left >= kLanes ? kAllLanes : (LaneMask{1} << left) - 1;
}

void BlockRunner::prepare_warps() {
  const Dim3& size = configuration_.block;
  std::byte* registers = aligned(registers_);
  for (std::size_t w = 0; w < warps_.size(); ++w, registers += program_.register_bytes) {
    WarpState& state = warps_[w].state;
    state.bases[0] = registers;
    state.bases[1] = constants_.data();
    state.block = &context_;
    state.index = static_cast<int>(w);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto thread = static_cast<unsigned>(w) * kLanes + lane;
      state.write<std::uint32_t>(program_.special.thread_index[0])[lane] = thread % size.x;
      state.write<std::uint32_t>(program_.special.thread_index[1])[lane] = thread / size.x % size.y;
      state.write<std::uint32_t>(program_.special.thread_index[2])[lane] = thread / size.x / size.y;
      state.write<std::uint32_t>(program_.special.lane_index)[lane] = lane;
      state.write<std::uint32_t>(program_.special.warp_index)[lane] = static_cast<std::uint32_t>(w);
    }
  }
}

void BlockRunner::fill_constants(const std::array<Slot, 3>& slots, const Dim3& value) {
  const std::array<unsigned, 3> values{value.x, value.y, value.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto* const lanes = reinterpret_cast<std::uint32_t*>(constants_.data() + slots[axis].offset());
    std::fill(lanes, lanes + kLanes, values[axis]);
  }
}

void BlockRunner::run_to_barrier(Warp& warp) {
  WarpState& state = warp.state;
  const Operation* const operations = program_.operations.data();
  while (true) {
    while (!warp.paths.empty() &&
           (warp.paths.back().mask == 0 || warp.paths.back().next == warp.paths.back().reconvergence)) {
      warp.paths.pop_back();
    }
    if (warp.paths.empty()) {
      warp.status = WarpStatus::done;
      return;
    }
    Path& path = warp.paths.back();
    const LaneMask active = path.mask;
    const ProgramBlock& block = program_.blocks[program_.block_of_operation[path.next]];
    if (path.next == block.first) {
      const auto index = static_cast<std::size_t>(&block - program_.blocks.data());
      ++block_warps_[index];
      block_lanes_[index] += static_cast<std::uint64_t>(std::popcount(active));
    }
    int at = path.next;
    for (; at < block.end && operations[at].kind == OperationKind::plain; ++at) {
      const Operation& operation = operations[at];
      state.mask = active;
      if (operation.guarded) {
        state.mask = guard_mask(state, operation, active);
        if (state.mask == 0) continue;
        count_guarded(operation, state.mask, at);
      }
      operation.handler(state, operation);
    }
    if (at == block.end) {
      path.next = at;
      continue;
    }
    const Operation& last = operations[at];
    if (last.kind == OperationKind::barrier) {
      path.next = at + 1;
      state.mask = active;
      check_barrier(warp, last);
      warp.status = WarpStatus::at_barrier;
      return;
    }
    if (last.kind == OperationKind::branch) {
      branch(warp, last, at, block);
    } else {
      exit_lanes(warp, last, at);
    }
  }
}

void BlockRunner::count_guarded(const Operation& operation, LaneMask mask, int at) {
  if (at > 0 && program_.operations[at - 1].instruction == operation.instruction) return;
  InstructionCounters& counters = context_.counters[operation.instruction];
  ++counters.warps;
  counters.lanes += static_cast<std::uint64_t>(std::popcount(mask));
}

void BlockRunner::check_barrier(const Warp& warp, const Operation& operation) const {
  const LaneMask missing = warp.live & ~warp.paths.back().mask;
  if (missing == 0) return;
  context_.fault(warp.state, operation, Checker::synchronization, 0, warp.paths.back().mask, [&](int lane) {
    return context_.finding_at(warp.state, operation, lane, Checker::synchronization,
                               fmt::format("barrier in divergent code: {} of the warp's {} threads are not here",
                                           std::popcount(missing), std::popcount(warp.live)));
  });
}

void BlockRunner::branch(Warp& warp, const Operation& operation, int at, const ProgramBlock& block) {
  Path& path = warp.paths.back();
  const LaneMask taken = operation.guarded ? guard_mask(warp.state, operation, path.mask) : path.mask;
  if (taken == path.mask) {
    path.next = operation.target;
  } else if (taken == 0) {
    path.next = at + 1;
  } else {
    ++context_.counters[operation.instruction].divergent_branches;
    const LaneMask other = path.mask & ~taken;
    path.next = block.reconvergence;  // this path waits there for both
    const int meet = block.reconvergence;
    warp.paths.push_back({meet, at + 1, other});
    warp.paths.push_back({meet, operation.target, taken});
  }
}

void BlockRunner::exit_lanes(Warp& warp, const Operation& operation, int at) {
  const LaneMask active = warp.paths.back().mask;
  const LaneMask leaving = operation.guarded ? guard_mask(warp.state, operation, active) : active;
  if (operation.guarded && leaving != 0) count_guarded(operation, leaving, at);
  for (Path& path : warp.paths) path.mask &= ~leaving;
  warp.live &= ~leaving;
  warp.paths.back().next = at + 1;
}

}  // namespace convladder::simulated
