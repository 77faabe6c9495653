// Max pooling on the CPU: maxima of columns first, then along the rows, some rows of windows at once (row_pooling.hpp).
#include <algorithm>
#include <vector>

#include "variants/cpu_operator.hpp"
#include "variants/max_pooling/cpu/row_pooling.hpp"

namespace convladder {
namespace {

constexpr int kInputFloats = 4096;  // of the rows at once: they stay in the first-level cache

void max_pool(const OperatorShape& shape, const OperatorTensors& tensors) {
  const std::int64_t planes = std::int64_t{shape.batch} * shape.input.channels;
  const std::int64_t input_pixels = std::int64_t{shape.input.height} * shape.input.width;
  const std::int64_t output_pixels = std::int64_t{shape.output.height} * shape.output.width;
  const RowPooling pooling(shape.pool_size, shape.pool_stride, shape.input.width);
  const int at_once = std::clamp(kInputFloats / shape.input.width / shape.pool_stride, 1, shape.output.height);
#pragma omp parallel
  {
    std::vector<float> scratch(static_cast<std::size_t>(pooling.scratch(at_once)));
#pragma omp for schedule(static)
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      const float* const input = tensors.input + plane * input_pixels;
      float* const output = tensors.output + plane * output_pixels;
      for (int row = 0; row < shape.output.height; row += at_once) {
        pooling.pool(input + std::int64_t{row} * shape.pool_stride * shape.input.width, shape.input.width,
                     std::min(at_once, shape.output.height - row), scratch.data(),
                     output + std::int64_t{row} * shape.output.width);
      }
    }
  }
}

const OperatorRegistration registration{{.family = "cpu",
                                         .type = OperatorType::max_pool,
                                         .name = "rows-of-maxima",
                                         .title = "Rows of maxima",
                                         .description = "First the column maxima over the window's rows, which are "
                                                        "contiguous, then those along the row."},
                                        cpu_operator(max_pool)};

}  // namespace
}  // namespace convladder
