// Softmax on the CPU: an image's largest element is subtracted first, so that no exponential overflows.
#include <algorithm>

#include "variants/cpu_operator.hpp"
#include "variants/elementary_functions.hpp"
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
    output[i] = exponential(input[i] - largest);  // of a NaN, a NaN, and so the sum and every output
    sum += output[i];
  }
  const auto factor = static_cast<float>(1.0 / sum);
#pragma omp simd
  for (int i = 0; i < classes; ++i) output[i] *= factor;
}

void softmax(const OperatorShape& shape, const OperatorTensors& tensors) {
  const auto classes = static_cast<std::int64_t>(shape.input.elements());
#pragma omp parallel for schedule(static)
  for (int image = 0; image < shape.batch; ++image) {
    softmax_image(static_cast<int>(classes), tensors.input + image * classes, tensors.output + image * classes);
  }
}

const OperatorRegistration registration{
    {.family = "cpu",
     .type = OperatorType::softmax,
     .name = "vector",
     .title = "Vectorised",
     .description = "Maximum, exponentials with their sum, and quotients in three passes over an image."},
    cpu_operator(softmax, tolerance::softmax)};

}  // namespace
}  // namespace convladder
