// What the CPU stages from 03 on share: the sum of a part with several vectors of sums.
#pragma once

#include "lanes.hpp"

/// In float, so that n should be some thousands at most.
inline double sum_of_part(const float* x, int n) {
  constexpr int kVectors = 8;
  Floats sums[kVectors] = {};
  int i = 0;
  for (; i <= n - kVectors * kLanes; i += kVectors * kLanes) {
    for (int k = 0; k < kVectors; ++k) sums[k] += lanes_at(x + i + k * kLanes);
  }
  for (; i <= n - kLanes; i += kLanes) sums[0] += lanes_at(x + i);
  double sum = 0;
  for (; i < n; ++i) sum += x[i];
  for (int width = kVectors / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) sums[k] += sums[k + width];
  }
  return sum + sum_of_lanes(sums[0]);
}
