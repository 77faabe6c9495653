#include "variants/accuracy.hpp"

#include <fmt/format.h>

#include <cmath>

namespace convladder {

std::string output_mismatch(const ReferenceOutput& expected, const float* output, double tolerance) {
  std::size_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    const double value = expected.value[i];
    const double error = output[i] == value ? 0 : std::abs(output[i] - value);  // equal infinities have no difference
    const bool right = std::isnan(value) ? std::isnan(output[i]) : error <= tolerance * expected.magnitude[i];
    if (right) continue;
    if (wrong++ == 0) first = fmt::format("element {} is {:.9g}, expected {:.9g}", i, output[i], value);
  }
  if (wrong == 0) return {};
  return fmt::format("{} of {} elements are wrong; {}", wrong, expected.value.size(), first);
}

}  // namespace convladder
