// Vectors for the CPU stages: sixteen floats, in as many registers as the processor needs for them.
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
