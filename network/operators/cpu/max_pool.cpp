// Max pooling on the CPU: first down the columns, where neighbours lie side by side, then along the row that is left.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "network/operators/cpu_operator.hpp"

namespace convladder {
namespace {

/// NaN if either is.
float larger(float a, float b) { return b > a || b != b ? b : a; }

/// maxima[i] = the largest of `rows` elements below each other.
void pool_columns(const float* input, int rows, int width, float* maxima) {
  std::copy(input, input + width, maxima);
  for (int row = 1; row < rows; ++row) {
    const float* const next = input + static_cast<std::size_t>(row) * width;
#pragma omp simd
    for (int i = 0; i < width; ++i) maxima[i] = larger(maxima[i], next[i]);
  }
}

/// output[i] = the largest of `size` neighbours from i * stride on. `Stride` may be a compile-time constant.
template <typename Stride>
void pool_row(const float* maxima, int size, Stride stride, int width, float* output) {
#pragma omp simd
  for (int i = 0; i < width; ++i) output[i] = maxima[i * stride];
  for (int q = 1; q < size; ++q) {
#pragma omp simd
    for (int i = 0; i < width; ++i) output[i] = larger(output[i], maxima[i * stride + q]);
  }
}

void pool_plane(const OperatorShape& shape, const float* input, std::vector<float>& maxima, float* output) {
  for (int row = 0; row < shape.output.height; ++row) {
    const auto first_row = static_cast<std::size_t>(row) * shape.pool_stride;
    pool_columns(input + first_row * shape.input.width, shape.pool_size, shape.input.width, maxima.data());
    float* const pooled = output + static_cast<std::size_t>(row) * shape.output.width;
    if (shape.pool_stride == 2) {  // of most networks; then the compiler knows where the neighbours are
      pool_row(maxima.data(), shape.pool_size, std::integral_constant<int, 2>(), shape.output.width, pooled);
    } else {
      pool_row(maxima.data(), shape.pool_size, shape.pool_stride, shape.output.width, pooled);
    }
  }
}

void max_pool(const OperatorShape& shape, const OperatorTensors& tensors) {
  const std::int64_t planes = std::int64_t{shape.batch} * shape.input.channels;
  const std::int64_t input_pixels = std::int64_t{shape.input.height} * shape.input.width;
  const std::int64_t output_pixels = std::int64_t{shape.output.height} * shape.output.width;
#pragma omp parallel
  {
    std::vector<float> maxima(static_cast<std::size_t>(shape.input.width));
#pragma omp for schedule(static)
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      pool_plane(shape, tensors.input + plane * input_pixels, maxima, tensors.output + plane * output_pixels);
    }
  }
}

const OperatorRegistration registration{{.family = "cpu",
                                         .type = OperatorType::max_pool,
                                         .name = "rows-of-maxima",
                                         .title = "Rows of maxima",
                                         .description = "The maxima of columns over the window's rows first, which are "
                                                        "contiguous, then those along the row."},
                                        cpu_operator(max_pool)};

}  // namespace
}  // namespace convladder
