// Max pooling on the CPU: first down the columns, where neighbours lie side by side, then along the row that is left.
#include <vector>

#include "network/operators/cpu/pool_rows.hpp"
#include "network/operators/cpu_operator.hpp"

namespace convladder {
namespace {

void pool_plane(const OperatorShape& shape, const float* input, std::vector<float>& maxima, float* output) {
  for (int row = 0; row < shape.output.height; ++row) {
    const auto first_row = static_cast<std::size_t>(row) * shape.pool_stride;
    pool_columns(input + first_row * shape.input.width, shape.pool_size, shape.input.width, shape.input.width,
                 maxima.data());
    pool_row(maxima.data(), shape.pool_size, shape.pool_stride, shape.output.width,
             output + static_cast<std::size_t>(row) * shape.output.width);
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
