// Turns scores into weights, a vector at a time. The CPU stages share it.
#pragma once

#include <algorithm>
#include <cstddef>

#include "exponential.hpp"

namespace attention {

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
