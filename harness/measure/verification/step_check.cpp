#include "harness/measure/verification/step_check.hpp"

#include <fmt/format.h>

#include <cmath>

namespace convladder {

ImageCheck check_image(const ReferenceOutput& expected, const float* output, double tolerance, const OutputFill& fill,
                       std::int64_t first) {
  ImageCheck check{.compared = true, .failure = output_mismatch(expected, output, tolerance)};
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    const double error = std::abs(output[i] - expected.value[i]);
    const double scaled = error == 0 ? 0 : error / expected.magnitude[i];
    // Written so that a NaN is taken over and stays.
    if (!std::isnan(check.max_scaled_error) && !(scaled <= check.max_scaled_error)) check.max_scaled_error = scaled;
    if (!(scaled <= tolerance) && fill.left_at(first + static_cast<std::int64_t>(i), output[i])) ++check.unwritten;
  }
  return check;
}

void StepCheck::add(int image, const ImageCheck& found) {
  unwritten += found.unwritten;
  if (!found.compared) return;
  ++compared_images;
  const double error = found.max_scaled_error;
  if (!std::isnan(max_scaled_error) && !(error <= max_scaled_error)) max_scaled_error = error;
  if (!found.failure.empty() && failure.empty()) failure = fmt::format("image {}: {}", image, found.failure);
}

void StepCheck::conclude(std::int64_t elements) {
  if (unwritten == 0) return;
  const std::string never =
      fmt::format("{} of {} output elements are as they were before the call", unwritten, elements);
  failure = failure.empty() ? never : never + "; first: " + failure;
}

}  // namespace convladder
