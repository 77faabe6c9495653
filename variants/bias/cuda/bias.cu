// Bias: adds its channel's value to every element, a thread each.
#include "variants/cuda_operator.hpp"
#include "variants/operator_tolerances.hpp"

namespace convladder {

__global__ void add_bias(const float* x, const float* bias, float* y, int elements_per_image, int pixels_per_channel,
                         int blocks_per_image) {
  const std::size_t image = blockIdx.x / blocks_per_image;
  const int i = static_cast<int>(blockIdx.x % blocks_per_image * blockDim.x + threadIdx.x);
  if (i >= elements_per_image) return;
  const std::size_t element = image * elements_per_image + i;
  y[element] = x[element] + bias[i / pixels_per_channel];
}

namespace {

std::vector<KernelLaunch> plan(const OperatorShape& shape, const OperatorTensors& tensors) {
  const std::size_t elements = shape.input.elements();
  return {make_launch(add_bias, image_grid(shape.batch, elements), Dim3{kElementThreads, 1, 1}, 0, tensors.input,
                      tensors.bias, tensors.output, static_cast<int>(elements), shape.input.height * shape.input.width,
                      blocks_per_image(elements))};
}

const OperatorRegistration registration{{.family = "cuda",
                                         .type = OperatorType::bias,
                                         .name = "elementwise",
                                         .title = "Elementwise",
                                         .library = false,
                                         .description = "One thread per element finds its channel with one division."},
                                        cuda_operator(plan, tolerance::bias)};

}  // namespace
}  // namespace convladder
