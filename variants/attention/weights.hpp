// Turns scores into weights, a vector at a time, with e^x by a polynomial. The CPU stages share it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "register_tile.hpp"

namespace attention {

using register_tile::kLanes;
using register_tile::Vector;
using Whole [[gnu::vector_size(kLanes * sizeof(std::int32_t))]] = std::int32_t;

inline Vector larger(Vector a, Vector b) { return a > b ? a : b; }

/// e^x for x <= 0; below -87 the result is 1.6e-38, about the smallest float with all its bits. Within 2e-7 of the
/// result, and about |x| * 6e-8 of it.
[[gnu::always_inline]] inline Vector exponential(Vector x) {
  x = larger(x, Vector{} - 87.0F);
  // x = n * ln 2 + rest with a whole n: adding 1.5 * 2^23 leaves n in the last bits.
  constexpr float kWhole = 0x1.8p23F;
  const Vector shifted = x * 0x1.715476p0F + kWhole;
  const Vector n = shifted - kWhole;
  const Vector rest = x - n * 0x1.62e4p-1F - n * 0x1.7f7d1cp-20F;  // ln 2 in two parts; n times the first is exact
  Vector value = rest * (1.0F / 720) + 1.0F / 120;
  value = value * rest + 1.0F / 24;
  value = value * rest + 1.0F / 6;
  value = value * rest + 0.5F;
  value = value * rest + 1.0F;
  value = value * rest + 1.0F;
  return std::bit_cast<Vector>(std::bit_cast<Whole>(value) + (std::bit_cast<Whole>(shifted) << 23));  // times 2^n
}

inline constexpr int rounded_up(int number, int step) { return (number + step - 1) / step * step; }

inline float largest_lane(Vector x) {
  float largest = x[0];
  for (int i = 1; i < kLanes; ++i) largest = std::max(largest, x[i]);
  return largest;
}
inline float sum_of_lanes(Vector x) {
  float sum = x[0];
  for (int i = 1; i < kLanes; ++i) sum += x[i];
  return sum;
}

/// Multiplies `count` scores by `scale` and returns the largest of them and `largest`. The vector behind the scores
/// belongs to them and becomes zero.
inline float scale_scores(float* scores, int count, float scale, float largest) {
  const int padded = rounded_up(count, kLanes);
  std::fill(scores + count, scores + padded, 0.0F);
  Vector most = Vector{} + largest;
  for (int j = 0; j < padded; j += kLanes) {
    const Vector scaled = register_tile::load(scores + j) * scale;
    register_tile::store(scores + j, scaled);
    if (j + kLanes <= count) most = larger(most, scaled);
  }
  float result = largest_lane(most);
  for (int j = count / kLanes * kLanes; j < count; ++j) result = std::max(result, scores[j]);
  return result;
}

/// Replaces `count` scores by e^(score - largest), none of which is above 1, and returns their sum. The vector behind
/// the scores belongs to them and becomes zero.
inline float scores_to_weights(float* scores, int count, float largest) {
  Vector sums{};
  int j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    const Vector weight = exponential(register_tile::load(scores + j) - largest);
    register_tile::store(scores + j, weight);
    sums += weight;
  }
  float sum = sum_of_lanes(sums);
  if (j < count) {
    const int padded = j + kLanes;
    std::fill(scores + count, scores + padded, largest);
    register_tile::store(scores + j, exponential(register_tile::load(scores + j) - largest));
    std::fill(scores + count, scores + padded, 0.0F);
    for (; j < count; ++j) sum += scores[j];
  }
  return sum;
}

}  // namespace attention
