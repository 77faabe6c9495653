// For each head and query: the weights of the keys, softmax(scale * q . k), and the values summed up with them.
//
// The scale of errors: a score errs by a few 2^-24 of its `magnitude`, the sum of scale * |q * k|; a weight errs by
// that times itself, and the sum that it is divided by as much as its weights on average. So a term of the result
// counts as weight * |value|, times 1 + its score's magnitude + that average.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

extern "C" void reference(const double* q, const double* k, const double* v, double* out, double* out_scale,
                          double scale, int H, int S, int D) {
  std::vector<double> weights(static_cast<std::size_t>(S));
  std::vector<double> magnitudes(static_cast<std::size_t>(S));
  for (int h = 0; h < H; ++h) {
    const std::size_t head = static_cast<std::size_t>(h) * S * D;
    for (int i = 0; i < S; ++i) {
      const double* const query = q + head + static_cast<std::size_t>(i) * D;
      for (int j = 0; j < S; ++j) {
        const double* const key = k + head + static_cast<std::size_t>(j) * D;
        double product = 0;
        double magnitude = 0;
#pragma omp simd reduction(+ : product, magnitude)
        for (int d = 0; d < D; ++d) {
          product += query[d] * key[d];
          magnitude += std::abs(query[d] * key[d]);
        }
        weights[j] = scale * product;
        magnitudes[j] = std::abs(scale) * magnitude;
      }
      const double largest = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      double average = 0;
      for (int j = 0; j < S; ++j) {
        weights[j] = std::exp(weights[j] - largest);
        sum += weights[j];
        average += weights[j] * magnitudes[j];
      }
      average /= sum;

      double* const result = out + head + static_cast<std::size_t>(i) * D;
      double* const result_scale = out_scale + head + static_cast<std::size_t>(i) * D;
      std::fill_n(result, D, 0.0);
      std::fill_n(result_scale, D, 0.0);
      for (int j = 0; j < S; ++j) {
        const double weight = weights[j] / sum;
        const double of_error = weight * (1 + magnitudes[j] + average);
        const double* const value = v + head + static_cast<std::size_t>(j) * D;
#pragma omp simd
        for (int d = 0; d < D; ++d) {
          result[d] += weight * value[d];
          result_scale[d] += of_error * std::abs(value[d]);
        }
      }
    }
  }
}
