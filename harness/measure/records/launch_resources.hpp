// `resources` of a case in the record: the report of ptxas on each kernel that it launches.
#pragma once

#include <cstddef>
#include <vector>

#include "devices/device.hpp"
#include "devices/kernel_resources.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// A launch on one architecture.
struct LaunchResources {
  KernelResources kernel;  ///< read from a record without its mangled name
  Dim3 grid;
  Dim3 block;
  std::size_t dynamic_shared_bytes = 0;
};

/// The report of ptxas on every kernel that the case launches, for every architecture that was asked for. A stage of a
/// folder launches its kernels itself: `launched` says which ones.
std::vector<LaunchResources> resources_of(const PlannedCase& planned, const std::vector<KernelCounters>& launched);

}  // namespace convladder
