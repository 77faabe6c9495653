// Counting by comparisons where bins are few. The CPU stages from 03 on share it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __AVX512BW__
constexpr int kLanes = 32;
#else
constexpr int kLanes = 16;
#endif
constexpr int kFewBins = kLanes / 2;  // with more, comparing a vector takes longer than counting its keys one by one

using Keys = uint16_t __attribute__((vector_size(kLanes * sizeof(uint16_t))));

/// Adds to each of `sums` how many of n keys are at least as large as the limit that belongs to it, for kGroup limits.
constexpr int kGroup = 8;
inline void compare_group(const uint16_t* keys, int n, const uint16_t* limits, uint32_t* sums) {
  Keys counts[kGroup] = {};  // in registers: n / kLanes is below 65536
  int i = 0;
  for (; i <= n - kLanes; i += kLanes) {
    Keys some;
    std::memcpy(&some, keys + i, sizeof some);
#pragma GCC unroll 8
    // A lane that compares as true is -1.
    for (int k = 0; k < kGroup; ++k) counts[k] -= reinterpret_cast<Keys>(some >= limits[k]);
  }
  for (int k = 0; k < kGroup; ++k) {
    for (int lane = 0; lane < kLanes; ++lane) sums[k] += counts[k][lane];
    for (int rest = i; rest < n; ++rest) sums[k] += keys[rest] >= limits[k] ? 1 : 0;
  }
}

/// Adds the counts of n keys to `counts`. A bin has the keys that reach it, without those that reach the next one.
inline void compare_keys(const uint16_t* keys, int n, int bins, uint32_t* counts) {
  constexpr int kPart = 8192;  // keys, which stay in the first-level cache from group to group
  uint16_t limits[kFewBins + kGroup] = {};
  uint32_t reached[kFewBins + kGroup] = {};
  for (int bin = 1; bin < bins; ++bin) limits[bin] = static_cast<uint16_t>((65536 * bin - 1) / bins + 1);
  for (int begin = 0; begin < n; begin += kPart) {
    for (int bin = 1; bin < bins; bin += kGroup) {
      compare_group(keys + begin, std::min(kPart, n - begin), limits + bin, reached + bin);
    }
  }
  reached[0] = static_cast<uint32_t>(n);
  for (int bin = 0; bin < bins; ++bin) counts[bin] += reached[bin] - (bin + 1 < bins ? reached[bin + 1] : 0);
}
