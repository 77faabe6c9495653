// The time model's view of a launch, from figures in the profiler's vocabulary.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "devices/device.hpp"
#include "simulator/caches/gpu_model.hpp"
#include "simulator/gpus/time_model.hpp"

namespace convladder::simulated {

/// The bytes per block asked for at launch, for a launch that no plan describes.
inline constexpr const char* kDynamicSharedBytes = "launch__shared_mem_per_block_dynamic";

using NamedFigures = std::vector<std::pair<std::string, double>>;

/// The figure of that name; 0 where there is none.
double figure(const NamedFigures& figures, std::string_view name);

/// The sum of these figures, which belong to a kernel or a case.
template <typename... Names>
double counted(const NamedFigures& figures, Names... names) {
  return (figure(figures, names) + ...);
}

/// Operations of the tensor cores in tf32 (`tensor_tf32`), and in half precision and bfloat16 (`tensor_half`).
double tensor_tf32(const NamedFigures& counted);
double tensor_half(const NamedFigures& counted);

/// Whether a model of caches produced traffic figures (`has_traffic`), and its bytes of DRAM traffic (`dram_bytes`).
bool has_traffic(const NamedFigures& modelled);
double dram_bytes(const NamedFigures& modelled);

/// `gpu` is the GPU whose caches were modelled. Leaves out what only a compiler knows: registers, shared memory,
/// spills.
LaunchCounts launch_counts(const KernelCounters& kernel, const GpuModel& gpu);

}  // namespace convladder::simulated
