#include "devices/simulated/execution/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <thread>

namespace convladder::simulated {
namespace {

/// Lanes that go one way, until they meet the others at `reconvergence`.
struct Path {
  int reconvergence = 0;
  int next = 0;  ///< operation
  LaneMask mask = 0;
};

enum class WarpStatus { running, at_barrier, done };

struct Warp {
  WarpState state;
  std::vector<Path> paths;  ///< a stack: the last one runs
  WarpStatus status = WarpStatus::running;
  LaneMask live = 0;  ///< lanes that have not exited
};

std::uint64_t thread_count(const Dim3& dim) { return std::uint64_t{dim.x} * dim.y * dim.z; }

/// Runs blocks one after another on one host thread.
class BlockRunner {
 public:
  BlockRunner(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration)
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

  void set_observers(std::vector<AccessObserver*> observers) { context_.observers = std::move(observers); }

  void run(const Dim3& block, int multiprocessor) {
    context_.block_index = block;
    fill_constants(program_.special.block_index, context_.block_index);
    std::ranges::fill(context_.shared, std::byte{0});
    for (Warp& warp : warps_) {
      warp.live = first_lanes(warp.state.index);
      warp.paths.assign(1, {static_cast<int>(program_.operations.size()), 0, warp.live});
      warp.status = WarpStatus::running;
    }
    for (AccessObserver* const observer : context_.observers) observer->block_begins(context_, multiprocessor);
    // Warps take turns from barrier to barrier, in order: the interleaving is the same in every run.
    for (bool any = true; any;) {
      any = false;
      for (Warp& warp : warps_) {
        if (warp.status == WarpStatus::running) run_to_barrier(warp);
      }
      for (Warp& warp : warps_) {
        if (warp.status != WarpStatus::at_barrier) continue;
        warp.status = WarpStatus::running;
        any = true;
      }
      if (!any) continue;
      for (AccessObserver* const observer : context_.observers) observer->barrier_passed(context_);
    }
    for (AccessObserver* const observer : context_.observers) observer->block_ends(context_);
  }

  /// Per instruction, counted per block where they are the same.
  std::vector<InstructionCounters> counters() const {
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

 private:
  static constexpr std::size_t kAlignment = 64;

  LaneMask first_lanes(int warp) const {
    const std::uint64_t left = threads_ - static_cast<std::uint64_t>(warp) * kLanes;
    return left >= kLanes ? kAllLanes : (LaneMask{1} << left) - 1;
  }

  static std::byte* aligned(std::vector<std::byte>& bytes) {
    void* at = bytes.data();
    std::size_t space = bytes.size();
    return static_cast<std::byte*>(std::align(kAlignment, 1, at, space));
  }

  void prepare_warps() {
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

  void fill_constants(const std::array<Slot, 3>& slots, const Dim3& value) {
    const std::array<unsigned, 3> values{value.x, value.y, value.z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      auto* const lanes = reinterpret_cast<std::uint32_t*>(constants_.data() + slots[axis].offset());
      std::fill(lanes, lanes + kLanes, values[axis]);
    }
  }

  static LaneMask guard_mask(const WarpState& state, const Operation& operation, LaneMask active) {
    const LaneMask guard = *state.read<LaneMask>(operation.guard);
    return active & (operation.guard_negated ? ~guard : guard);
  }

  void run_to_barrier(Warp& warp) {
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

  void count_guarded(const Operation& operation, LaneMask mask, int at) {
    if (at > 0 && program_.operations[at - 1].instruction == operation.instruction) return;
    InstructionCounters& counters = context_.counters[operation.instruction];
    ++counters.warps;
    counters.lanes += static_cast<std::uint64_t>(std::popcount(mask));
  }

  void check_barrier(const Warp& warp, const Operation& operation) const {
    const LaneMask missing = warp.live & ~warp.paths.back().mask;
    for (AccessObserver* const observer : context_.observers) {
      observer->barrier_reached(warp.state, operation, missing);
    }
    if (missing == 0) return;
    context_.fault(warp.state, operation, std::countr_zero(warp.paths.back().mask),
                   fmt::format("barrier in divergent code: {} of the warp's {} threads are not here",
                               std::popcount(missing), std::popcount(warp.live)));
  }

  void branch(Warp& warp, const Operation& operation, int at, const ProgramBlock& block) {
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

  void exit_lanes(Warp& warp, const Operation& operation, int at) {
    const LaneMask active = warp.paths.back().mask;
    const LaneMask leaving = operation.guarded ? guard_mask(warp.state, operation, active) : active;
    if (operation.guarded && leaving != 0) count_guarded(operation, leaving, at);
    for (Path& path : warp.paths) path.mask &= ~leaving;
    warp.live &= ~leaving;
    warp.paths.back().next = at + 1;
  }

  const Program& program_;
  const LaunchConfiguration& configuration_;
  std::uint64_t threads_;
  std::vector<Warp> warps_;
  std::vector<std::byte> constants_;
  std::vector<std::byte> registers_;
  BlockContext context_;
  std::vector<std::uint64_t> block_warps_;  // per basic block: entries by a warp
  std::vector<std::uint64_t> block_lanes_;
};

/// The first fault in the order of blocks, whichever host thread met one first.
struct FirstFault {
  std::uint64_t block = ~std::uint64_t{0};
  std::exception_ptr error;
};

}  // namespace

LaunchResult execute(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration,
                     const MakeObservers& make_observers) {
  const GridWindow window =
      configuration.window.count == 0 ? GridWindow{0, configuration.grid.x} : configuration.window;
  const Dim3 part{window.count, configuration.grid.y, configuration.grid.z};
  const std::uint64_t blocks = thread_count(part);
  const auto multiprocessors = static_cast<std::uint64_t>(std::max(1, configuration.multiprocessors));
  const auto threads = static_cast<std::size_t>(std::max(1, configuration.host_threads));
  std::vector<std::vector<InstructionCounters>> counters(threads);
  std::vector<FirstFault> faults(threads);
  std::atomic<std::uint64_t> next_multiprocessor{0};

  const auto work = [&](std::size_t thread) {
    BlockRunner runner(program, memory, configuration);
    if (make_observers) runner.set_observers(make_observers(static_cast<int>(thread)));
    for (std::uint64_t sm = next_multiprocessor++; sm < multiprocessors; sm = next_multiprocessor++) {
      for (std::uint64_t block = sm; block < blocks; block += multiprocessors) {
        try {
          const Dim3 index{window.first + static_cast<unsigned>(block % part.x),
                           static_cast<unsigned>(block / part.x % part.y),
                           static_cast<unsigned>(block / part.x / part.y)};
          runner.run(index, static_cast<int>(sm));
        } catch (...) {
          if (block < faults[thread].block) faults[thread] = {block, std::current_exception()};
          break;
        }
      }
    }
    counters[thread] = runner.counters();
  };
  std::vector<std::thread> others;
  for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& thread : others) thread.join();

  const auto first = std::ranges::min_element(faults, {}, &FirstFault::block);
  if (first->error) std::rethrow_exception(first->error);
  LaunchResult result;
  result.blocks = blocks;
  result.counters.resize(program.kernel->instructions.size());
  for (const auto& partial : counters) {
    for (std::size_t i = 0; i < partial.size(); ++i) result.counters[i] += partial[i];
  }
  return result;
}

}  // namespace convladder::simulated
