// Bias: adds its channel's value to every element, with a thread for each element.
#include "variants/kernel_launches.hpp"
#include "variants/layer_problem.hpp"
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

std::vector<KernelLaunch> plan(const ProblemSize& size, const ProblemTensors& tensors) {
  const ActivationShape image = image_of(size);
  const std::size_t elements = image.elements();
  return {make_launch(add_bias, item_grid(size.batch, elements), Dim3{kElementThreads, 1, 1}, 0, tensors.input(),
                      tensors.constant(), tensors.output(), static_cast<int>(elements), image.height * image.width,
                      blocks_per_item(elements))};
}

const VariantRegistration registration{"bias",
                                       {.family = "cuda",
                                        .rung = 1,
                                        .name = "elementwise",
                                        .title = "Elementwise",
                                        .builds_on = "",
                                        .hypothesis = "One thread per element finds its channel with one division."},
                                       launch_variant(plan, tolerance::bias)};

}  // namespace
}  // namespace convladder
