// Attributes of a launch, in the form that both APIs have in memory.
#pragma once

#include <vector>

#include "simulator/stand_in/runtime/answer.hpp"

namespace convladder::stand_in {

/// A launch with its attributes applied.
struct AttributedLaunch {
  LaunchRequest request;
  std::vector<const void*> events;  ///< to be recorded when the kernel is launched
};

/// Applies attributes to a launch. Hints that change nothing here are accepted, as are those that let a kernel begin
/// early. Throws Failure for attributes that a launch does not have, and for kernels that change graphs.
void apply(AttributedLaunch& launch, const cudaLaunchAttribute* attributes, unsigned count);
/// Records the events after the launch. Throws Failure if the stream is captured.
void record_events(Machine& machine, const AttributedLaunch& launch);

}  // namespace convladder::stand_in
