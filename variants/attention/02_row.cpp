// @title One row of scores at a time
// @hypothesis The scores of one query stay in the first-level cache, and all loops run along vectors.
//
// The three steps are done for one query after the other, so that there is one row of scores instead of S, and it stays
// in the first-level cache (1 KiB for 256 keys). The keys are transposed first, once for each head: then the scores of
// neighbouring keys are computed in the lanes of a vector, and no sum waits for its own last addition. The exponential
// is a polynomial of seven terms for a whole vector. Weights are divided by their sum at the very end, D divisions
// instead of S. Against the stage below that relieves the memory, and the latency of additions.
//
// When it loses: transposing the keys costs as much as a query or two, so with a few queries it does not pay. For each
// query all keys and values pass by, from the second-level cache; each product loads a key and loads and stores a
// score.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "weights.hpp"

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int H, int S, int D) {
  const std::size_t length = static_cast<std::size_t>(S);
  const std::size_t width = static_cast<std::size_t>(D);
  std::vector<float> turned(length * width);
  std::vector<float> row(length + attention::kLanes);
  for (int h = 0; h < H; ++h) {
    const std::size_t head = h * length * width;
    for (std::size_t j = 0; j < length; ++j) {
      for (std::size_t d = 0; d < width; ++d) turned[d * length + j] = k[head + j * width + d];
    }
    for (std::size_t i = 0; i < length; ++i) {
      std::fill(row.begin(), row.end(), 0.0F);
      for (std::size_t d = 0; d < width; ++d) {
        const float factor = q[head + i * width + d];
        for (std::size_t j = 0; j < length; ++j) row[j] += factor * turned[d * length + j];
      }
      const float largest = attention::scale_scores(row.data(), S, scale, -std::numeric_limits<float>::infinity());
      const float sum = attention::scores_to_weights(row.data(), S, largest);
      float* const result = out + head + i * width;
      std::fill_n(result, D, 0.0F);
      for (std::size_t j = 0; j < length; ++j) {
        for (std::size_t d = 0; d < width; ++d) result[d] += row[j] * v[head + j * width + d];
      }
      for (std::size_t d = 0; d < width; ++d) result[d] /= sum;
    }
  }
}
