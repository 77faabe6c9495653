// @title Scores in memory
// @hypothesis The scores of a head are written and read again three times: S * S floats for S * D of input.
//
// The definition, step by step, for one head after the other: all scores, q . k for every query and every key; the
// softmax of each row of them; and the values, summed up with these weights.
//
// What it costs: with longer sequences the S x S scores leave the cache, and each step has them all pass by. A score is
// one sum of D products, each of which waits for the one before it, and std::exp is called for one score at a time. It
// never wins; everything above is compared with it.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int H, int S, int D) {
  const std::size_t length = static_cast<std::size_t>(S);
  const std::size_t width = static_cast<std::size_t>(D);
  std::vector<float> scores(length * length);
  for (int h = 0; h < H; ++h) {
    const std::size_t head = h * length * width;
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t j = 0; j < length; ++j) {
        float product = 0.0F;
        for (std::size_t d = 0; d < width; ++d) product += q[head + i * width + d] * k[head + j * width + d];
        scores[i * length + j] = scale * product;
      }
    }
    for (std::size_t i = 0; i < length; ++i) {
      float* const row = scores.data() + i * length;
      const float largest = *std::max_element(row, row + length);
      float sum = 0.0F;
      for (std::size_t j = 0; j < length; ++j) sum += row[j] = std::exp(row[j] - largest);
      for (std::size_t j = 0; j < length; ++j) row[j] /= sum;
    }
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t d = 0; d < width; ++d) {
        float sum = 0.0F;
        for (std::size_t j = 0; j < length; ++j) sum += scores[i * length + j] * v[head + j * width + d];
        out[head + i * width + d] = sum;
      }
    }
  }
}
