// ReLU: a thread per element. Its only cost is reading and writing each element once.
#include "variants/kernel_launches.hpp"

namespace convladder {

__global__ void relu(const float* x, float* y, std::size_t elements) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const float value = x[i];
  y[i] = value < 0.0F ? 0.0F : value;  // not max(value, 0), which would turn a NaN into 0
}

namespace {

std::vector<KernelLaunch> plan(const ProblemSize& size, const ProblemTensors& tensors) {
  const auto elements = static_cast<std::size_t>(size.input_elements());
  return {make_launch(relu, element_grid(elements), Dim3{kElementThreads, 1, 1}, 0, tensors.input(), tensors.output(),
                      elements)};
}

const VariantRegistration registration{"relu",
                                       {.family = "cuda",
                                        .rung = 1,
                                        .name = "elementwise",
                                        .title = "Elementwise",
                                        .builds_on = "",
                                        .hypothesis = "A thread per element."},
                                       launch_variant(plan, 0)};

}  // namespace
}  // namespace convladder
