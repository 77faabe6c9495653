// For each head and query: the weights of the keys, softmax(scale * q . k), and the values summed up with them. Errors
// are relative to the sum of weight * |value|.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

extern "C" void reference(const double* q, const double* k, const double* v, double* out, double* out_scale,
                          double scale, int H, int S, int D) {
  std::vector<double> weights(static_cast<std::size_t>(S));
  for (int h = 0; h < H; ++h) {
    const std::size_t head = static_cast<std::size_t>(h) * S * D;
    for (int i = 0; i < S; ++i) {
      const double* const query = q + head + static_cast<std::size_t>(i) * D;
      for (int j = 0; j < S; ++j) {
        const double* const key = k + head + static_cast<std::size_t>(j) * D;
        double product = 0;
#pragma omp simd reduction(+ : product)
        for (int d = 0; d < D; ++d) product += query[d] * key[d];
        weights[j] = scale * product;
      }
      const double largest = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (double& weight : weights) sum += weight = std::exp(weight - largest);

      double* const result = out + head + static_cast<std::size_t>(i) * D;
      double* const result_scale = out_scale + head + static_cast<std::size_t>(i) * D;
      std::fill_n(result, D, 0.0);
      std::fill_n(result_scale, D, 0.0);
      for (int j = 0; j < S; ++j) {
        const double* const value = v + head + static_cast<std::size_t>(j) * D;
#pragma omp simd
        for (int d = 0; d < D; ++d) {
          result[d] += weights[j] / sum * value[d];
          result_scale[d] += weights[j] / sum * std::abs(value[d]);
        }
      }
    }
  }
}
