// Runs blocks one after another on one host thread: warps in turn from barrier to barrier, lanes in lockstep.
#pragma once

#include <vector>

#include "devices/simulated/execution/block_context.hpp"
#include "devices/simulated/execution/executor.hpp"
#include "devices/simulated/execution/program.hpp"

namespace convladder::simulated {

class BlockRunner {
 public:
  BlockRunner(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration);

  /// What the blocks run from now on report to; see BlockContext.
  void set_observers(std::vector<AccessObserver*> observers) { context_.observers = std::move(observers); }
  void set_findings(FindingLog* findings) { context_.findings = findings; }
  void set_l1(L1Cache* l1) { context_.l1 = l1; }

  /// Runs a block to its end. Throws KernelFault if findings are not collected.
  void run(const Dim3& block, std::uint64_t number);

  /// By instruction, over all blocks so far.
  std::vector<InstructionCounters> counters() const;

 private:
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

  LaneMask first_lanes(int warp) const;
  void prepare_warps();
  void fill_constants(const std::array<Slot, 3>& slots, const Dim3& value);
  void run_to_barrier(Warp& warp);
  void count_guarded(const Operation& operation, LaneMask mask, int at);
  void check_barrier(const Warp& warp, const Operation& operation) const;
  void branch(Warp& warp, const Operation& operation, int at, const ProgramBlock& block);
  void exit_lanes(Warp& warp, const Operation& operation, int at);

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

}  // namespace convladder::simulated
