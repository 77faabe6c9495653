// Softmax on the CPU: each image's largest element is subtracted first, so that no exponential overflows.
#include <algorithm>

#include "variants/elementary_functions.hpp"
#include "variants/function_variant.hpp"
#include "variants/operator_tolerances.hpp"

namespace convladder {
namespace {

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

const VariantRegistration registration{
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
