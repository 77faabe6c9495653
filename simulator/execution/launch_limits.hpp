// Limits that end a launch early, and its progress while it runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "simulator/state/block_context.hpp"

namespace convladder::simulated {

/// The progress of a launch.
struct LaunchProgress {
  std::uint64_t blocks_ended = 0;
  std::uint64_t blocks = 0;      ///< all blocks of the launch
  std::uint64_t operations = 0;  ///< operations of warps, about
  const char* unit = "blocks";   ///< "orders": of a launch that runs in many orders, the first two count these
};

/// Called now and then while a launch runs, by any of its host threads, one at a time. Returns the reason to end the
/// launch, "after 30 s"; empty if it may go on.
using LaunchWatch = std::function<std::string(const LaunchProgress&)>;

struct LaunchLimits {
  std::uint64_t operations = 0;  ///< by warps, over all blocks; 0: no limit
  std::uint64_t operations_without_change =
      0;              ///< by warps while their block, and those it runs in turns with, change no memory; 0: none
  LaunchWatch watch;  ///< empty: nobody watches
};

/// A limit ends the launch. The message says which limit, and where in the kernel.
struct LaunchStopped : KernelFault {
  using KernelFault::KernelFault;
};

/// The state that the host threads of a launch share.
struct RunningLaunch {
  explicit RunningLaunch(std::uint64_t blocks_in_all) : blocks(blocks_in_all) {}

  /// Blocks after this one need not run any further.
  void stop_behind(std::uint64_t block);

  std::uint64_t blocks;
  std::atomic<std::uint64_t> blocks_ended{0};
  std::atomic<std::uint64_t> operations{0};
  std::atomic<std::uint64_t> first_stopped{~std::uint64_t{0}};
  std::atomic<bool> has_trapped{false};
  std::mutex watching;
};

/// The limits as they apply to the block that a host thread runs.
class BlockLimits {
 public:
  /// `totals` belong to the block's host thread.
  BlockLimits(const LaunchLimits& limits, RunningLaunch& launch, RunTotals& totals);

  /// The reason not to begin the block, empty if there is none; `look` and `end_block` return a reason to end the
  /// launch. `memory_changes` is as in SpinWatch.
  std::string begin_block(std::uint64_t block, std::uint64_t memory_changes);
  /// Whether a warp that has executed so many operations loops, so that `look` is to be called.
  bool loops(std::uint64_t executed_by_warp) { return executed_by_warp > most_operations_ || --loops_until_look_ == 0; }
  /// `executed` is the number of operations that the block's warps have executed so far.
  std::string look(std::uint64_t executed, std::uint64_t memory_changes);
  std::string end_block(std::uint64_t executed);

 private:
  std::uint64_t add(std::uint64_t executed);
  std::string reason();

  const LaunchLimits& limits_;
  RunningLaunch& launch_;
  RunTotals& totals_;
  std::uint64_t most_operations_;
  std::uint64_t block_ = 0;
  std::uint64_t added_ = 0;  // operations of this block added to the launch's
  std::uint32_t loops_until_look_ = 0;
};

}  // namespace convladder::simulated
