// tanh: a thread per element, with two ways to compute it and a choice (elementary_functions.hpp).
#include "variants/elementary_functions.hpp"
#include "variants/kernel_launches.hpp"
#include "variants/operator_tolerances.hpp"

namespace convladder {

__global__ void tanh_elements(const float* x, float* y, std::size_t elements) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  y[i] = hyperbolic_tangent(x[i]);
}

namespace {

std::vector<KernelLaunch> plan(const ProblemSize& size, const ProblemTensors& tensors) {
  const auto elements = static_cast<std::size_t>(size.input_elements());
  return {make_launch(tanh_elements, element_grid(elements), Dim3{kElementThreads, 1, 1}, 0, tensors.input(),
                      tensors.output(), elements)};
}

const VariantRegistration registration{
    "tanh",
    {.family = "cuda",
     .rung = 1,
     .name = "elementwise",
     .title = "Elementwise",
     .builds_on = "",
     .hypothesis = "A thread per element, a polynomial near 0 and a quotient of exponentials elsewhere."},
    launch_variant(plan, tolerance::tanh)};

}  // namespace
}  // namespace convladder
