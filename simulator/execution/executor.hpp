// Runs a launch: distributes its blocks to the multiprocessors of a simulated GPU, and these to host threads.
#pragma once

#include <functional>
#include <vector>

#include "simulator/caches/cache_hierarchy.hpp"
#include "simulator/execution/launch_limits.hpp"
#include "simulator/state/access_observer.hpp"
#include "simulator/state/block_context.hpp"
#include "simulator/state/finding_log.hpp"
#include "simulator/state/program.hpp"
#include "simulator/state/schedule.hpp"

namespace convladder::simulated {

/// Blocks selected by their places along an axis of the grid, from `first` on.
struct PlacesOfBlocks {
  Axis axis = Axis::x;
  unsigned first = 0;
  unsigned count = 0;
};

/// A sample of the blocks of a launch, in whole clusters: `count` of them in all, in `parts` runs one after the other,
/// of which this is number `part`.
struct BlockSample {
  std::uint64_t count = 0;  ///< 0: all blocks run
  std::uint64_t part = 0;
  std::uint64_t parts = 1;
  bool from_first_on = false;  ///< the first clusters of the grid; otherwise they are spread over it, with its ends
};

/// The workspace of the grid barriers of cooperative groups: cooperative_groups/details/driver_abi.h, grid_workspace.
inline constexpr std::uint64_t kGridWorkspaceBytes = 64;

/// The values of kernels' clocks. They count the operations that a warp has executed: the only time that there is.
struct KernelClocks {
  std::uint64_t cycles = 0;  ///< %clock and %clock64 when a warp begins
  std::uint64_t ns = 0;      ///< %globaltimer when a warp begins
  double ns_of_cycle = 1;
};

struct LaunchConfiguration {
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;                      ///< blocks of a cluster; along each axis the grid is a multiple of it
  bool is_explicit_cluster = false;  ///< whether the launch or the kernel asks for clusters
  std::uint64_t grid_workspace = 0;  ///< for a cooperative launch: address of `kGridWorkspaceBytes`, all zero
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;           ///< laid out as Program::parameter_offsets says
  PlacesOfBlocks window;                       ///< blocks that run; a count of 0 stands for all
  BlockSample sample;                          ///< of the blocks that run
  const GpuModel* gpu = &default_gpu_model();  ///< block b runs on its multiprocessor b modulo their number
  bool is_counted = true;                      ///< without counting, counters are of no use and the launch is faster
  bool with_caches = true;                     ///< whether traffic below the L1 is counted
  CacheHierarchy* caches = nullptr;            ///< caches of that GPU to be reused; none: the launch makes its own
  bool collect_findings = false;               ///< otherwise the first fault ends the launch
  LaunchLimits limits;
  const TextureTable* textures = nullptr;  ///< the objects that handles stand for; none: no handle is valid
  DeviceRuntime* runtime = nullptr;        ///< for kernels that call the device runtime; none: they cannot run
  KernelClocks clocks;
  Schedule* schedule = nullptr;  ///< the order in which the work goes on; none: the usual one. It uses one host thread
  int host_threads = 1;          ///< results and counters are the same for every number
};

/// Makes the observers of a launch, which then runs on one host thread; they report to `findings`.
using MakeObservers = std::function<std::vector<AccessObserver*>(FindingLog& findings)>;

struct LaunchResult {
  std::vector<InstructionCounters> counters;  ///< by instruction of the kernel
  bool has_caches = false;
  CacheCounters caches;  ///< the traffic of the caches, if there are any
  std::uint64_t blocks = 0;
  FindingLog findings;
  std::string stopped;   ///< the limit that ended the launch, and where; empty if it came to its end
  std::string printed;   ///< output of printf in the kernel, in the order of blocks and warps
  std::string asserted;  ///< see RunTotals
};

/// Runs all blocks. If findings are not collected, throws KernelFault for the first fault in the order of blocks.
LaunchResult execute(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration,
                     const MakeObservers& make_observers = nullptr);

}  // namespace convladder::simulated
