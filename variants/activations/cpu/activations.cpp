// A bias, ReLU, tanh and softmax on the CPU.
#include <algorithm>

#include "variants/accuracy.hpp"
#include "variants/elementary_functions.hpp"
#include "variants/function_variant.hpp"
#include "variants/layer_problem.hpp"

namespace convladder {
namespace {

void add_bias(int images, int channels, int pixels, const float* input, const float* bias, float* output) {
#pragma omp parallel for collapse(2) schedule(static)
  for (int image = 0; image < images; ++image) {
    for (int channel = 0; channel < channels; ++channel) {
      const std::size_t plane = (static_cast<std::size_t>(image) * channels + channel) * pixels;
      const float value = bias[channel];
#pragma omp simd
      for (int i = 0; i < pixels; ++i) output[plane + i] = input[plane + i] + value;
    }
  }
}

ReadyCall bias(const ProblemSize& size, const ProblemTensors& tensors) {
  return [images = size.batch, image = image_of(size), input = tensors.input(), bias = tensors.constant(),
          output = tensors.output()] {
    add_bias(images, image.channels, image.height * image.width, input, bias, output);
  };
}

const VariantRegistration bias_registration{"bias",
                                            {.family = "cpu",
                                             .rung = 1,
                                             .name = "vector",
                                             .title = "Vectorised",
                                             .builds_on = "",
                                             .hypothesis = "Plane by plane with the widest vectors."},
                                            function_variant({.ready = bias, .tolerance = tolerance::bias})};

/// Computes output[i] = function(input[i]); output == input is allowed.
template <typename Function>
void for_each_element(std::int64_t count, const float* input, float* output, const Function& function) {
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < count; ++i) output[i] = function(input[i]);
}

ReadyCall relu(const ProblemSize& size, const ProblemTensors& tensors) {
  // Not max(x, 0), which would turn a NaN into 0.
  return [elements = size.input_elements(), input = tensors.input(), output = tensors.output()] {
    for_each_element(elements, input, output, [](float x) { return x < 0.0F ? 0.0F : x; });
  };
}

const VariantRegistration relu_registration{"relu",
                                            {.family = "cpu",
                                             .rung = 1,
                                             .name = "vector",
                                             .title = "Vectorised",
                                             .builds_on = "",
                                             .hypothesis = "One pass over the elements with the widest vectors."},
                                            function_variant({.ready = relu, .tolerance = 0})};

/// The C library's tanh is called for one element at a time, this one can be vectorised.
ReadyCall tanh(const ProblemSize& size, const ProblemTensors& tensors) {
  // A lambda and not the function itself: a function pointer would be called for one element at a time.
  return [elements = size.input_elements(), input = tensors.input(), output = tensors.output()] {
    for_each_element(elements, input, output, [](float x) { return hyperbolic_tangent(x); });
  };
}

const VariantRegistration tanh_registration{
    "tanh",
    {.family = "cpu",
     .rung = 1,
     .name = "vector",
     .title = "Vectorised",
     .builds_on = "",
     .hypothesis = "A polynomial near 0 and a quotient of exponentials elsewhere, "
                   "both computed for every element and one chosen."},
    function_variant({.ready = tanh, .tolerance = tolerance::tanh})};

/// Each image's largest element is subtracted first, so that no exponential overflows.
void softmax_image(int classes, const float* input, float* output) {
  float largest = input[0];
#pragma omp simd reduction(max : largest)
  for (int i = 0; i < classes; ++i) largest = std::max(largest, input[i]);
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < classes; ++i) {
    output[i] = exponential(input[i] - largest);  // a NaN gives a NaN, and with it the sum and every output
    sum += output[i];
  }
  const auto factor = static_cast<float>(1.0 / sum);
#pragma omp simd
  for (int i = 0; i < classes; ++i) output[i] *= factor;
}

void softmax_images(int images, std::int64_t classes, const float* input, float* output) {
#pragma omp parallel for schedule(static)
  for (int image = 0; image < images; ++image) {
    softmax_image(static_cast<int>(classes), input + image * classes, output + image * classes);
  }
}

ReadyCall softmax(const ProblemSize& size, const ProblemTensors& tensors) {
  return [images = size.batch, classes = size.input_elements_per_item(), input = tensors.input(),
          output = tensors.output()] { softmax_images(images, classes, input, output); };
}

const VariantRegistration softmax_registration{
    "softmax",
    {.family = "cpu",
     .rung = 1,
     .name = "vector",
     .title = "Vectorised",
     .builds_on = "",
     .hypothesis = "Maximum, exponentials with their sum, and quotients in three passes over an image."},
    function_variant({.ready = softmax, .tolerance = tolerance::softmax})};

}  // namespace
}  // namespace convladder
