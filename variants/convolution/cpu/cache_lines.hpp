// Outputs that bypass the caches: when that is worth it, and where cache lines begin.
#pragma once

#include <algorithm>
#include <cstdint>

#include "devices/cpu/cpu_facts.hpp"

namespace convladder {

/// Whether outputs of this many floats should be streamed because the last-level cache does not hold them. Where the
/// system does not say how large that is, a usual size is assumed.
inline bool outgrows_caches(std::int64_t floats) {
  std::int64_t most = 0;
  for (const CpuCache& cache : cpu_caches()) most = std::max(most, static_cast<std::int64_t>(cache.bytes));
  constexpr std::int64_t kUsual = std::int64_t{32} * 1024 * 1024;
  return floats * static_cast<std::int64_t>(sizeof(float)) >= (most > 0 ? most : kUsual);
}

/// Whether outputs of this many floats should be streamed, if `threads` threads have no more of the last-level cache
/// than processors have for as many cores: 2 to 8 MiB for each. A virtual machine of two cores is told the whole cache
/// of its host, which others use as well.
inline bool outgrows_caches(std::int64_t floats, int threads) {
  constexpr std::int64_t kMostOfThread = std::int64_t{8} * 1024 * 1024;
  return outgrows_caches(floats) || floats * static_cast<std::int64_t>(sizeof(float)) >= threads * kMostOfThread;
}

/// Whether a thread's part of outputs of this many floats is more than the second-level cache of its core holds. Where
/// the system does not say how large that is, a usual size is assumed.
inline bool outgrows_second_level(std::int64_t floats, int threads) {
  std::int64_t bytes = std::int64_t{1024} * 1024;
  for (const CpuCache& cache : cpu_caches()) {
    if (cache.level == 2) bytes = static_cast<std::int64_t>(cache.bytes);
  }
  return floats * static_cast<std::int64_t>(sizeof(float)) > threads * bytes;
}

constexpr int kLineFloats = 16;

/// Floats from `address` to the beginning of the next cache line.
inline std::int64_t floats_to_line(const float* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address) / sizeof(float) % kLineFloats;
  return static_cast<std::int64_t>((kLineFloats - place) % kLineFloats);
}

}  // namespace convladder
