// Attributes of a launch, as both APIs have them in memory.
#pragma once

#include <vector>

#include "simulator/stand_in/runtime/answer.hpp"

namespace convladder::stand_in {

/// What attributes make of a launch.
struct AttributedLaunch {
  LaunchRequest request;
  std::vector<const void*> events;  ///< that are recorded when the kernel is launched
};

/// Hints that change nothing here are taken, and so are those that let a kernel begin early. Throws Failure for
/// attributes that a launch does not have, and for kernels that change graphs.
void apply(AttributedLaunch& launch, const cudaLaunchAttribute* attributes, unsigned count);
/// After the launch. Throws Failure if the stream is captured.
void record_events(Machine& machine, const AttributedLaunch& launch);

}  // namespace convladder::stand_in
