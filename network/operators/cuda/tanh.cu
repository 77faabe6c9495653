// tanh: a thread per element, with two ways to compute it and a choice (elementary_functions.hpp).
#include "network/operators/cuda_operator.hpp"
#include "network/operators/elementary_functions.hpp"
#include "network/operators/tolerances.hpp"

namespace convladder {

__global__ void tanh_elements(const float* x, float* y, int elements_per_image, int blocks_per_image) {
  const std::size_t image = blockIdx.x / blocks_per_image;
  const int i = static_cast<int>(blockIdx.x % blocks_per_image * blockDim.x + threadIdx.x);
  if (i >= elements_per_image) return;
  const std::size_t element = image * elements_per_image + i;
  y[element] = hyperbolic_tangent(x[element]);
}

namespace {

std::vector<KernelLaunch> plan(const OperatorShape& shape, const OperatorTensors& tensors) {
  const std::size_t elements = shape.input.elements();
  return {make_launch(tanh_elements, image_grid(shape.batch, elements), Dim3{kThreadsPerImageBlock, 1, 1}, 0,
                      tensors.input, tensors.output, static_cast<int>(elements), blocks_per_image(elements))};
}

const OperatorRegistration registration{
    {.family = "cuda",
     .type = OperatorType::tanh,
     .name = "elementwise",
     .title = "Elementwise",
     .library = false,
     .description = "A thread per element, a polynomial near 0 and a quotient of exponentials elsewhere."},
    cuda_operator(plan, tolerance::tanh)};

}  // namespace
}  // namespace convladder
