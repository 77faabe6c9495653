// Runs a launch: blocks over simulated multiprocessors, warps in turn, lanes in lockstep.
#pragma once

#include <functional>
#include <vector>

#include "devices/simulated/execution/block_context.hpp"
#include "devices/simulated/execution/program.hpp"

namespace convladder::simulated {

struct LaunchConfiguration {
  Dim3 grid;
  Dim3 block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;  ///< laid out as Program::parameter_offsets says
  GridWindow window;                  ///< blocks that run; a count of 0 stands for all
  int multiprocessors = 1;            ///< of the simulated GPU: block b runs on multiprocessor b modulo this
  int host_threads = 1;               ///< results and counters are the same for every number
};

/// Makes the observers of one host thread; called once for each of them, with its number.
using MakeObservers = std::function<std::vector<AccessObserver*>(int host_thread)>;

struct LaunchResult {
  std::vector<InstructionCounters> counters;  ///< by instruction of the kernel
  std::uint64_t blocks = 0;
};

/// Runs all blocks. Throws KernelFault for the first fault, in the order of blocks.
LaunchResult execute(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration,
                     const MakeObservers& make_observers = nullptr);

}  // namespace convladder::simulated
