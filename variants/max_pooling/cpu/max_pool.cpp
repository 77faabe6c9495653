// Max pooling on the CPU: maxima of columns first, then along the rows, for some rows of windows at once
// (row_pooling.hpp).
#include <algorithm>
#include <vector>

#include "variants/function_variant.hpp"
#include "variants/layer_shapes.hpp"
#include "variants/max_pooling/cpu/row_pooling.hpp"

namespace convladder {
namespace {

constexpr int kInputFloats = 4096;  // floats of the rows at once: they stay in the first-level cache

void pool_images(int images, const Pooling& layer, const float* all_input, float* all_output) {
  const std::int64_t planes = std::int64_t{images} * layer.input.channels;
  const std::int64_t input_pixels = std::int64_t{layer.input.height} * layer.input.width;
  const std::int64_t output_pixels = std::int64_t{layer.output.height} * layer.output.width;
  const RowPooling pooling(layer.size, layer.stride, layer.input.width);
  const int at_once = std::clamp(kInputFloats / layer.input.width / layer.stride, 1, layer.output.height);
#pragma omp parallel
  {
    std::vector<float> scratch(static_cast<std::size_t>(pooling.scratch(at_once)));
#pragma omp for schedule(static)
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      const float* const input = all_input + plane * input_pixels;
      float* const output = all_output + plane * output_pixels;
      for (int row = 0; row < layer.output.height; row += at_once) {
        pooling.pool(input + std::int64_t{row} * layer.stride * layer.input.width, layer.input.width,
                     std::min(at_once, layer.output.height - row), scratch.data(),
                     output + std::int64_t{row} * layer.output.width);
      }
    }
  }
}

ReadyCall max_pool(const ProblemSize& size, const ProblemTensors& tensors) {
  return [images = size.batch, layer = pooling_of(size), input = tensors.input(), output = tensors.output()] {
    pool_images(images, layer, input, output);
  };
}

const VariantRegistration registration{
    "max-pooling",
    {.family = "cpu",
     .rung = 1,
     .name = "rows-of-maxima",
     .title = "Rows of maxima",
     .builds_on = "",
     .hypothesis = "First the column maxima over the window's rows, which are contiguous, then those along the row."},
    function_variant({.ready = max_pool, .tolerance = 0})};

}  // namespace
}  // namespace convladder
