// ReLU: a thread per element. All that it costs is reading and writing each once.
#include "network/operators/cuda_operator.hpp"

namespace convladder {

__global__ void relu(const float* x, float* y, int elements_per_image, int blocks_per_image) {
  const std::size_t image = blockIdx.x / blocks_per_image;
  const int i = static_cast<int>(blockIdx.x % blocks_per_image * blockDim.x + threadIdx.x);
  if (i >= elements_per_image) return;
  const std::size_t element = image * elements_per_image + i;
  const float value = x[element];
  y[element] = value < 0.0F ? 0.0F : value;  // not max(value, 0), which would turn a NaN into 0
}

namespace {

std::vector<KernelLaunch> plan(const OperatorShape& shape, const OperatorTensors& tensors) {
  const std::size_t elements = shape.input.elements();
  return {make_launch(relu, image_grid(shape.batch, elements), Dim3{kThreadsPerImageBlock, 1, 1}, 0, tensors.input,
                      tensors.output, static_cast<int>(elements), blocks_per_image(elements))};
}

const OperatorRegistration registration{{.family = "cuda",
                                         .type = OperatorType::relu,
                                         .name = "elementwise",
                                         .title = "Elementwise",
                                         .library = false,
                                         .description = "A thread per element."},
                                        cuda_operator(plan)};

}  // namespace
}  // namespace convladder
