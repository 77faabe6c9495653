// What the time model wants to know of a launch, from the figures in the profiler's vocabulary.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "devices/device.hpp"
#include "simulator/caches/gpu_model.hpp"
#include "simulator/gpus/time_model.hpp"

namespace convladder::simulated {

/// Of a launch that no plan describes: bytes of a block that were asked for when it was launched.
inline constexpr const char* kDynamicSharedBytes = "launch__shared_mem_per_block_dynamic";

using NamedFigures = std::vector<std::pair<std::string, double>>;

/// The figure of that name; 0 where there is none.
double figure(const NamedFigures& figures, std::string_view name);

/// The sum of these figures of a kernel or of a case.
template <typename... Names>
double counted(const NamedFigures& figures, Names... names) {
  return (figure(figures, names) + ...);
}

/// Operations of the tensor cores: of tf32; of half precision and bfloat16.
double tensor_tf32(const NamedFigures& counted);
double tensor_half(const NamedFigures& counted);

/// Of figures below a model of caches.
bool has_traffic(const NamedFigures& modelled);
double dram_bytes(const NamedFigures& modelled);

/// `gpu` is the one whose caches were modelled. Without what only a compiler knows: registers, shared memory, spills.
LaunchCounts launch_counts(const KernelCounters& kernel, const GpuModel& gpu);

}  // namespace convladder::simulated
