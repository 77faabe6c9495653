// A bias, ReLU, tanh and softmax on CUDA devices.
#include "variants/accuracy.hpp"
#include "variants/elementary_functions.hpp"
#include "variants/kernel_launches.hpp"
#include "variants/layer_problem.hpp"

namespace convladder {

/// Bias: adds its channel's value to every element, with a thread for each element.
__global__ void add_bias(const float* x, const float* bias, float* y, int elements_per_image, int pixels_per_channel,
                         int blocks_per_image) {
  const std::size_t image = blockIdx.x / blocks_per_image;
  const int i = static_cast<int>(blockIdx.x % blocks_per_image * blockDim.x + threadIdx.x);
  if (i >= elements_per_image) return;
  const std::size_t element = image * elements_per_image + i;
  y[element] = x[element] + bias[i / pixels_per_channel];
}

/// ReLU: a thread per element. Its only cost is reading and writing each element once.
__global__ void relu(const float* x, float* y, std::size_t elements) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const float value = x[i];
  y[i] = value < 0.0F ? 0.0F : value;  // not max(value, 0), which would turn a NaN into 0
}

/// tanh: a thread per element, with two ways to compute it and a choice (elementary_functions.hpp).
__global__ void tanh_elements(const float* x, float* y, std::size_t elements) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  y[i] = hyperbolic_tangent(x[i]);
}

/// Softmax: a warp per image passes over its elements three times, for the largest, which is subtracted so that no
/// exponential overflows, for the exponentials and their sum, and for the quotients.
__global__ void softmax(const float* x, float* y, int classes, int batch) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const unsigned image = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (image >= static_cast<unsigned>(batch)) return;  // the whole warp returns
  x += static_cast<std::size_t>(image) * classes;
  y += static_cast<std::size_t>(image) * classes;

  float largest = -INFINITY;
  for (int i = lane; i < classes; i += 32) largest = max(largest, x[i]);
  for (int distance = 16; distance > 0; distance /= 2) {
    largest = max(largest, __shfl_xor_sync(0xffffffff, largest, distance));
  }
  float sum = 0.0F;
  for (int i = lane; i < classes; i += 32) {
    const float power = exponential(x[i] - largest);  // a NaN gives a NaN, and with it the sum and every output
    y[i] = power;  // only the same thread reads it again, and x[i] was read before: y may be x
    sum += power;
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  for (int i = lane; i < classes; i += 32) y[i] /= sum;
}

namespace {

std::vector<KernelLaunch> bias_launches(const ProblemSize& size, const ProblemTensors& tensors) {
  const ActivationShape image = image_of(size);
  const std::size_t elements = image.elements();
  return {make_launch(add_bias, item_grid(size.batch, elements), Dim3{kElementThreads, 1, 1}, 0, tensors.input(),
                      tensors.constant(), tensors.output(), static_cast<int>(elements), image.height * image.width,
                      blocks_per_item(elements))};
}

const VariantRegistration bias_registration{
    "bias",
    {.family = "cuda",
     .rung = 1,
     .name = "elementwise",
     .title = "Elementwise",
     .builds_on = "",
     .hypothesis = "One thread per element finds its channel with one division."},
    launch_variant(bias_launches, tolerance::bias)};

std::vector<KernelLaunch> relu_launches(const ProblemSize& size, const ProblemTensors& tensors) {
  const auto elements = static_cast<std::size_t>(size.input_elements());
  return {make_launch(relu, element_grid(elements), Dim3{kElementThreads, 1, 1}, 0, tensors.input(), tensors.output(),
                      elements)};
}

const VariantRegistration relu_registration{"relu",
                                            {.family = "cuda",
                                             .rung = 1,
                                             .name = "elementwise",
                                             .title = "Elementwise",
                                             .builds_on = "",
                                             .hypothesis = "A thread per element."},
                                            launch_variant(relu_launches, 0)};

std::vector<KernelLaunch> tanh_launches(const ProblemSize& size, const ProblemTensors& tensors) {
  const auto elements = static_cast<std::size_t>(size.input_elements());
  return {make_launch(tanh_elements, element_grid(elements), Dim3{kElementThreads, 1, 1}, 0, tensors.input(),
                      tensors.output(), elements)};
}

const VariantRegistration tanh_registration{
    "tanh",
    {.family = "cuda",
     .rung = 1,
     .name = "elementwise",
     .title = "Elementwise",
     .builds_on = "",
     .hypothesis = "A thread per element, a polynomial near 0 and a quotient of exponentials elsewhere."},
    launch_variant(tanh_launches, tolerance::tanh)};

constexpr int kWarpsPerBlock = 4;

std::vector<KernelLaunch> softmax_launches(const ProblemSize& size, const ProblemTensors& tensors) {
  const auto blocks = static_cast<unsigned>(ceil_div(size.batch, kWarpsPerBlock));
  return {make_launch(softmax, Dim3{blocks, 1, 1}, Dim3{32 * kWarpsPerBlock, 1, 1}, 0, tensors.input(),
                      tensors.output(), static_cast<int>(size.input_elements_per_item()), size.batch)};
}

const VariantRegistration softmax_registration{
    "softmax",
    {.family = "cuda",
     .rung = 1,
     .name = "warp-per-image",
     .title = "Warp per image",
     .builds_on = "",
     .hypothesis = "One warp per image computes maximum and sum with shuffles."},
    launch_variant(softmax_launches, tolerance::softmax)};

}  // namespace
}  // namespace convladder
