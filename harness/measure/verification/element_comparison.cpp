#include "harness/measure/verification/element_comparison.hpp"

#include <cmath>
#include <limits>

namespace convladder {

double scaled_error(float found, const ExpectedElements& expected, std::int64_t at) {
  const double error = std::abs(found - expected.value_factor * expected.value[at]);
  return error == 0 ? 0 : error / (expected.magnitude_factor * expected.magnitude[at]);
}

double max_scaled_error(const float* found, const ExpectedElements& expected, std::int64_t count) {
  // Errors are differences of doubles; a float has enough digits for their ratio to the scale. An error too small for a
  // float still counts as one.
  float largest = 0;
  std::int32_t not_a_number = 0;
  const auto magnitude_factor = static_cast<float>(expected.magnitude_factor);
#pragma omp simd reduction(max : largest) reduction(+ : not_a_number)
  for (std::int64_t i = 0; i < count; ++i) {
    const double error = std::abs(found[i] - expected.value_factor * expected.value[i]);
    const float part = static_cast<float>(error) / (magnitude_factor * expected.magnitude[i]);
    const float at_least = part < std::numeric_limits<float>::min() ? std::numeric_limits<float>::min() : part;
    const float scaled = error == 0 ? 0 : at_least;
    largest = scaled > largest ? scaled : largest;
    not_a_number += scaled != scaled ? 1 : 0;
  }
  return not_a_number > 0 ? std::numeric_limits<double>::quiet_NaN() : largest;
}

void add_scaled(double* to, const float* from, double factor, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

void add_scaled_squares(double* to, const float* from, double factor, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) to[i] += (factor * from[i]) * (factor * from[i]);
}

}  // namespace convladder
