// Runs a block on one host thread: warps take turns from barrier to barrier, lanes run in lockstep.
//
// A warp that loops for long without a barrier ends its turn as well, so that warps may wait for each other's
// writes. A block that waits for the work of other blocks is left, and goes on later.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/execution/call_frames.hpp"
#include "simulator/execution/executor.hpp"
#include "simulator/execution/launch_limits.hpp"
#include "simulator/execution/spin_watch.hpp"
#include "simulator/execution/warp_paths.hpp"
#include "simulator/state/block_barriers.hpp"
#include "simulator/state/block_context.hpp"
#include "simulator/state/cluster.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {

/// The state of a block when it is left.
enum class BlockProgress {
  ended,
  waits,  ///< would repeat itself for ever unless others change memory, or waits for its cluster
  yields  ///< has worked for long and changed no memory that others see
};

/// When to leave a block that others may have to wait for, or that waits for others.
struct BlockPatience {
  std::uint64_t operations = ~std::uint64_t{0};  ///< the most operations without a change of memory that others see
};
inline constexpr BlockPatience kRunsToItsEnd{};  // or until it waits for ever
inline constexpr BlockPatience kPatience{std::uint64_t{1} << 22};
inline constexpr BlockPatience kPatienceAmongWaiting{std::uint64_t{1} << 16};

class BlockRunner {
 public:
  /// `launch` is shared by the host threads of the launch, `totals` by the blocks of this thread.
  BlockRunner(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration,
              RunningLaunch& launch, RunTotals& totals);
  BlockRunner(const BlockRunner&) = delete;  // not copyable: its warps point to its context
  BlockRunner& operator=(const BlockRunner&) = delete;

  /// The observers that the blocks from now on report to; see BlockContext.
  void set_observers(std::vector<AccessObserver*> observers) { context_.observers = std::move(observers); }
  void set_findings(FindingLog* findings) { context_.findings = findings; }
  void set_l1(L1Cache* l1) { context_.l1 = l1; }
  /// Sets the cluster in which this runs the block of a rank; without one, each block is alone in its cluster.
  void set_cluster(const Cluster* cluster, unsigned rank);
  BlockContext& context() { return context_; }

  /// Begins a block that runs on a multiprocessor.
  void begin(const Dim3& block, std::uint64_t number, std::uint64_t multiprocessor);
  /// Continues the block until it ends or is left. Throws LaunchStopped where a limit ends it, KernelFault if findings
  /// are not collected.
  BlockProgress go_on(const BlockPatience& patience);
  /// Whether anything has changed that the block, which has been left, may have waited for.
  bool can_go_on() const;
  bool has_ended() const { return context_.has_ended; }
  /// Whether a trap has ended the block, and with it the grid. Until then its other warps were as far as their next
  /// barrier, so that all assertions that fail together are reported.
  bool has_trapped() const { return has_trapped_; }
  /// Ends the block, in which nothing more can happen.
  void end();
  /// Ends the block and reports why it waits for ever, now that no block can go on. `others` is appended to the report.
  void give_up(const std::string& others);

  /// Whether all warps of the block have arrived at the cluster's barrier.
  bool is_at_cluster_barrier() const { return barriers_.is_complete(BlockBarriers::kOfCluster); }
  /// Lets the block pass the cluster's barrier: all blocks of the cluster are there.
  void pass_cluster_barrier();

 private:
  enum class WarpStatus { running, at_barrier, done };
  static constexpr int kNowhere = -1;

  /// Lanes that wait at an operation of a call.
  struct Standing {
    int at = 0;
    int frame = 0;
    LaneMask lanes = 0;
  };

  struct Warp {
    WarpState state;
    WarpPaths paths;
    CallFrames frames;  ///< of a program that calls functions
    WarpStatus status = WarpStatus::running;
    std::uint64_t executed = 0;  ///< the operations that it has executed
    SpinWatch spin;
    const Operation* waits_at = nullptr;  ///< the barrier where the warp waits
    LaneMask waiting = 0;                 ///< the lanes that wait there
    std::vector<Standing> waiting_too;    ///< others, at other instructions of the same barrier
    std::uint32_t barrier = 0;
    bool arrived_at_cluster = false;  ///< has arrived and not waited since
    bool is_interrupted = false;      ///< by the schedule, before it does something that others may see
  };

  LaneMask first_lanes(int warp) const;
  bool any_running() const;
  bool any_at_cluster_barrier() const;
  std::optional<BlockProgress> look_at_patience(const BlockPatience& patience);
  bool repeats();
  BlockProgress go_on_by(Schedule& schedule, const BlockPatience& patience);
  std::vector<int> warps_that_can_run() const;
  int run_plain_by_schedule(Warp& warp, LaneMask active, int at, int end);
  void land_one(Schedule& schedule);
  bool land_all_arrivals();
  BlockProgress progress_of_last_turns();
  void prepare_warps();
  void fill_constant(Slot slot, std::uint32_t value);
  void fill_constants(const std::array<Slot, 3>& slots, const Dim3& value);
  void run_turn(Warp& warp);
  /// `stop` is an operation at which the path waits for nobody but ends here all the same.
  bool run_path(Warp& warp, int stop = kNowhere);

  struct LockstepGroup;
  bool can_run_in_lockstep() const;
  void run_in_lockstep();
  void run_in_lockstep(LockstepGroup& group, int stop);
  void run_plain_in_lockstep(LockstepGroup& group, int& at, int end);
  void branch_in_lockstep(LockstepGroup& group, int at, const ProgramBlock& block);
  void go_apart(LockstepGroup& group, int meet, std::span<const std::size_t> depths);
  bool carry_out_for_each(LockstepGroup& group, int at, const ProgramBlock& block);
  bool comes_alone_to(Warp& warp, int meet, std::size_t depth);
  int run_plain(WarpState& state, LaneMask active, int at, int end);
  /// Carries out an operation that is neither plain nor a branch; returns whether the warp's turn continues.
  bool execute_special(Warp& warp, const Operation& operation, int at, const ProgramBlock& block);
  void count_guarded(const Operation& operation, LaneMask mask, int at);
  bool branch(Warp& warp, const Operation& operation, int at, const ProgramBlock& block, LaneMask taken);
  void part(Warp& warp, int at, int target, LaneMask taken, const ProgramBlock& block);
  bool has_to_wait(Warp& warp, const Operation& operation, int at, LaneMask lanes);
  void schedule(Warp& warp);
  bool go_on_where_all_are(Warp& warp);
  void go_on(Warp& warp, int at, int frame, LaneMask lanes);
  LaneMask awaited(const WarpState& state, const Operation& operation, LaneMask lanes) const;
  std::vector<const Path*> waiting_with(const Warp& warp, const Path& path) const;
  bool meet(const Warp& warp, const Path& one, const Path& other) const;
  bool name_the_same(const Warp& warp, const Path& one, const Path& other) const;
  bool meet_at_barrier(const Warp& warp, const Path& one, const Path& other) const;
  void exchange(Warp& warp, std::span<const Standing> places);
  void arrive_together(Warp& warp, std::span<const Standing> places);
  void go_behind(Warp& warp, const Standing& place);
  WarpState state_at(const Warp& warp, const Standing& place) const;
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
  bool arrive(Warp& warp, const Operation& operation, LaneMask lanes, std::span<const Standing> others = {});
  void check_places(std::uint32_t barrier) const;
  void give_result(const WarpState& state, LaneMask lanes, const Operation& operation, std::uint32_t barrier) const;
  bool barrier_operands(const Warp& warp, const Operation& operation, LaneMask lanes,
                        BlockBarriers::Arrival& arrival) const;
  void check_divergence(const Warp& warp, const Operation& operation, LaneMask lanes) const;
  bool order_at_cluster_barrier(Warp& warp, const Operation& operation, LaneMask lanes);
  void complete_barrier(std::uint32_t barrier);
  void pass_barrier(std::uint32_t barrier);
  void report_deadlock(const std::string& others) const;
  bool all_wait() const;
  void report_spinning(const std::string& others) const;
  std::uint64_t memory_changes() const;
  std::uint64_t changes_for_others() const;
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
  std::vector<std::byte> registers_;  // of all warps; in a program that calls functions they are in the warps' frames
  BlockContext context_;
  BlockBarriers barriers_;
  std::vector<int> storing_instructions_;  // those whose writes only this block sees come first
  std::size_t stores_for_block_ = 0;       // the number of these
  RunningLaunch& launch_;
  BlockLimits limits_;
  std::span<std::uint64_t> block_warps_;  // as in RunTotals
  std::span<std::uint64_t> block_lanes_;
  std::optional<std::uint64_t> waits_since_;  // changes_for_others() at the time since which the block waits for them
  Repetition over_rounds_;                    // over the state of the whole block
  std::uint32_t rounds_ = 0;
  bool has_trapped_ = false;
  struct {
    std::uint64_t changes = 0;  // changes for others at the last look
    std::uint64_t changed = 0;  // operations executed when `changes` last grew, or the block went on
    std::uint64_t looked = 0;   // operations executed at the last look
    std::uint64_t begun = 0;    // operations executed when the block went on
  } patience_;
};

/// The counters of each instruction, with the counts of whole basic blocks included.
std::vector<InstructionCounters> counters_of(const Program& program, const RunTotals& totals);

}  // namespace convladder::simulated
