// The scan and the sum of a part. The CPU stages from 02 on share them.
#pragma once

#include "lanes.hpp"

/// Scans n numbers onto `before` and returns the sum of all. Each vector goes to `store_to(to, numbers)`.
template <typename Store>
int32_t scan_part(const int32_t* x, int32_t* y, int n, int32_t before, Store store_to) {
  Numbers carry = Numbers{} + before;  // in every lane
  int i = 0;
  for (; i <= n - kLanes; i += kLanes) {
    Numbers numbers;
    load(numbers, x + i);
    scan_lanes(numbers);
    Numbers sum = numbers;
    spread_last(sum);
    numbers += carry;
    carry += sum;  // the only value that the next vector waits for
    store_to(y + i, numbers);
  }
  int32_t sum = carry[0];
  for (; i < n; ++i) {
    sum += x[i];
    y[i] = sum;
  }
  return sum;
}

/// Scans a part with stores that go through the caches.
inline int32_t scan_part(const int32_t* x, int32_t* y, int n, int32_t before) {
  return scan_part(x, y, n, before, store);
}

inline int32_t sum_of_part(const int32_t* x, int n) {
  constexpr int kVectors = 4;
  Numbers sums[kVectors] = {};
  Numbers next;
  int i = 0;
  for (; i <= n - kVectors * kLanes; i += kVectors * kLanes) {
    for (int k = 0; k < kVectors; ++k) {
      load(next, x + i + k * kLanes);
      sums[k] += next;
    }
  }
  int32_t sum = 0;
  for (; i < n; ++i) sum += x[i];
  const Numbers all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (int lane = 0; lane < kLanes; ++lane) sum += all[lane];
  return sum;
}
