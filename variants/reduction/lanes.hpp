// Vectors for the CPU stages: sixteen floats, in as many registers as the processor needs for them.
#pragma once

constexpr int kLanes = 16;

using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using FloatsAnywhere = float __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));

/// The vector that begins at any address. A reference, since how a vector is returned depends on the processor.
inline const FloatsAnywhere& lanes_at(const float* from) { return *reinterpret_cast<const FloatsAnywhere*>(from); }

inline double sum_of_lanes(const Floats& lanes) {
  double sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += lanes[i];
  return sum;
}
