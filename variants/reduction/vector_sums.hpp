// Vectors of sixteen floats, in as many registers as the processor needs for them, and the sum of a part with several
// vectors of sums. The CPU stages from 02 on share them.
#pragma once

#include <cstring>

constexpr int kLanes = 16;

using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));

/// Loads numbers from any address. Vectors are passed by reference: how they are passed by value depends on the
/// processor.
inline void load(Floats& lanes, const float* from) { std::memcpy(&lanes, from, sizeof lanes); }

inline double sum_of_lanes(const Floats& lanes) {
  double sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += lanes[i];
  return sum;
}

/// The sum of n numbers in float, so n should be some thousands at most. If kAhead is not 0, the line that lies kAhead
/// bytes further is prefetched; beyond the end that has no effect.
template <int kAhead = 0>
double sum_of_part(const float* x, int n) {
  constexpr int kVectors = 8;
  Floats sums[kVectors] = {};
  Floats next;
  int i = 0;
  for (; i <= n - kVectors * kLanes; i += kVectors * kLanes) {
    for (int k = 0; k < kVectors; ++k) {
      const float* const from = x + i + k * kLanes;
      if (kAhead > 0) __builtin_prefetch(reinterpret_cast<const char*>(from) + kAhead);
      load(next, from);
      sums[k] += next;
    }
  }
  for (; i <= n - kLanes; i += kLanes) {
    load(next, x + i);
    sums[0] += next;
  }
  double sum = 0;
  for (; i < n; ++i) sum += x[i];
  for (int width = kVectors / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) sums[k] += sums[k + width];
  }
  return sum + sum_of_lanes(sums[0]);
}
