// Runs blocks one after another on one host thread: warps in turn from barrier to barrier, lanes in lockstep.
//
// A warp that loops for long without a barrier ends its turn as well, so that warps may wait for each other's writes.
#pragma once

#include <vector>

#include "devices/simulated/execution/call_frames.hpp"
#include "devices/simulated/execution/executor.hpp"
#include "devices/simulated/execution/launch_limits.hpp"
#include "devices/simulated/execution/spin_watch.hpp"
#include "devices/simulated/execution/warp_paths.hpp"
#include "devices/simulated/state/block_barriers.hpp"
#include "devices/simulated/state/block_context.hpp"
#include "devices/simulated/state/program.hpp"

namespace convladder::simulated {

class BlockRunner {
 public:
  /// `launch` is what the host threads of the launch share.
  BlockRunner(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration,
              RunningLaunch& launch);

  /// What the blocks run from now on report to; see BlockContext.
  void set_observers(std::vector<AccessObserver*> observers) { context_.observers = std::move(observers); }
  void set_findings(FindingLog* findings) { context_.findings = findings; }
  void set_l1(L1Cache* l1) { context_.l1 = l1; }

  /// Runs a block to its end. Throws LaunchStopped where a limit ends it, KernelFault if findings are not collected.
  void run(const Dim3& block, std::uint64_t number);

  /// By instruction, over all blocks so far.
  std::vector<InstructionCounters> counters() const;
  /// By all blocks so far.
  const std::string& printed() const { return context_.printed; }

 private:
  enum class WarpStatus { running, at_barrier, done };

  struct Warp {
    WarpState state;
    WarpPaths paths;
    CallFrames frames;  ///< of a program that calls functions
    WarpStatus status = WarpStatus::running;
    std::uint64_t executed = 0;  ///< operations
    SpinWatch spin;
    const Operation* waits_at = nullptr;  ///< of a warp at a barrier
    LaneMask waiting = 0;                 ///< lanes that are there
    std::uint32_t barrier = 0;
  };

  LaneMask first_lanes(int warp) const;
  void prepare_warps();
  void fill_constant(Slot slot, std::uint32_t value);
  void fill_constants(const std::array<Slot, 3>& slots, const Dim3& value);
  void begin_block(const Dim3& block, std::uint64_t number);
  void run_turn(Warp& warp);
  /// Carries out what is no plain operation; returns whether the warp's turn goes on.
  bool execute_special(Warp& warp, const Operation& operation, int at, const ProgramBlock& block);
  void count_guarded(const Operation& operation, LaneMask mask, int at);
  bool branch(Warp& warp, const Operation& operation, int at, const ProgramBlock& block);
  void part(Warp& warp, int at, int target, LaneMask taken, const ProgramBlock& block);
  bool has_to_wait(Warp& warp, const Operation& operation, int at, LaneMask lanes);
  void schedule(Warp& warp);
  bool go_on_where_all_are(Warp& warp);
  void go_on(Warp& warp, int at, int frame, LaneMask lanes);
  LaneMask awaited(const WarpState& state, const Operation& operation, LaneMask lanes) const;
  LaneMask waiting_with(const Warp& warp, const Path& path) const;
  void count_again(int from, int end, int times);
  bool release_met();
  int round_at(int operation) const;
  void exit_lanes(Warp& warp, LaneMask leaving);
  bool loops(Warp& warp, const Operation& operation, LaneMask lanes);
  bool table_branch(Warp& warp, const Operation& operation, int at, LaneMask lanes, const ProgramBlock& block);
  void call(Warp& warp, const Operation& operation, LaneMask lanes);
  void enter(Warp& warp, const Operation& operation, int function, int caller, LaneMask lanes);
  void leave_function(Warp& warp, LaneMask leaving);
  void call_fault(Warp& warp, const Operation& operation, LaneMask lanes, int kind, const std::string& problem);
  WarpState state_in(const Warp& warp, const Path& path) const;
  static void wait_at_barrier(Warp& warp, const Operation& operation, LaneMask lanes, std::uint32_t barrier);
  bool arrive(Warp& warp, const Operation& operation, LaneMask lanes);
  bool barrier_operands(const Warp& warp, const Operation& operation, LaneMask lanes,
                        BlockBarriers::Arrival& arrival) const;
  void check_divergence(const Warp& warp, const Operation& operation, LaneMask lanes) const;
  void complete_barrier(std::uint32_t barrier);
  void report_deadlock() const;
  bool all_wait() const;
  void report_spinning() const;
  std::uint64_t memory_changes() const;
  std::uint64_t executed() const;
  void look_at_limits(const Warp& warp, const Operation& operation, LaneMask lanes);
  void stop(const std::string& reason, const std::string& where = "");
  void synchronization_fault(const Warp& warp, const Operation& operation, int kind, LaneMask lanes,
                             const std::string& problem) const;

  const Program& program_;
  const LaunchConfiguration& configuration_;
  std::uint64_t threads_;
  std::vector<Warp> warps_;
  std::vector<std::byte> constants_;
  std::vector<std::byte> registers_;  // of all warps; those of a program that calls functions are in their frames
  BlockContext context_;
  BlockBarriers barriers_;
  std::vector<int> storing_instructions_;
  RunningLaunch& launch_;
  BlockLimits limits_;
  std::vector<std::uint64_t> block_warps_;  // per basic block: entries by a warp
  std::vector<std::uint64_t> block_lanes_;
};

}  // namespace convladder::simulated
