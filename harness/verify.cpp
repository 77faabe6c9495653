#include "harness/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

namespace convladder {
namespace {

// A quiet NaN with a payload: hardware makes 0x7fc00000 or 0xffc00000 of invalid operations, never this.
constexpr std::uint32_t kPoison = 0x7fd1e5a1;
constexpr std::size_t kChunkFloats = std::size_t{1} << 24;

bool is_poison(float value) { return std::bit_cast<std::uint32_t>(value) == kPoison; }

std::string place_of(const ConvShape& s, int image, std::int64_t element) {
  const std::int64_t pixels = std::int64_t{s.out_height()} * s.out_width();
  return fmt::format("image {}, map {}, row {}, column {}", image, element / pixels, element % pixels / s.out_width(),
                     element % s.out_width());
}

/// Compares one image and adds what it finds to the check.
void compare_image(const Problem& problem, std::size_t index, const float* values, double tolerance, Check& check) {
  const std::int64_t elements = problem.shape.output_elements_per_image();
  const double* const reference = problem.reference.data() + static_cast<std::int64_t>(index) * elements;
  const double* const magnitude = problem.magnitude.data() + static_cast<std::int64_t>(index) * elements;
  for (std::int64_t i = 0; i < elements; ++i) {
    const double error = std::abs(values[i] - reference[i]);
    const double scaled = error == 0 ? 0 : error / magnitude[i];
    if (!std::isfinite(values[i])) ++check.not_finite;
    // Written so that a NaN is taken over, stays, and fails.
    if (!std::isnan(check.max_scaled_error) && !(scaled <= check.max_scaled_error)) check.max_scaled_error = scaled;
    if (!(scaled <= tolerance) && check.first_failure.empty()) {
      const std::string found = is_poison(values[i]) ? "was never written" : fmt::format("is {:.9g}", values[i]);
      check.first_failure = fmt::format("{} {}, expected {:.9g} (error {:.2g} of sum|x*w|, allowed {:.2g})",
                                        place_of(problem.shape, problem.compared_images[index], i), found, reference[i],
                                        scaled, tolerance);
    }
  }
  check.compared += elements;
}

}  // namespace

void poison(Device& device, float* address, std::size_t floats) {
  const std::vector<std::uint32_t> pattern(std::min(floats, kChunkFloats), kPoison);
  for (std::size_t first = 0; first < floats; first += pattern.size()) {
    const std::size_t count = std::min(pattern.size(), floats - first);
    device.copy_to_device(address + first, pattern.data(), count * sizeof(float));
  }
}

std::int64_t count_poison(Device& device, const float* address, std::size_t floats) {
  std::int64_t unwritten = 0;
  std::vector<float> values(std::min(floats, kChunkFloats));
  for (std::size_t first = 0; first < floats; first += values.size()) {
    const std::size_t count = std::min(values.size(), floats - first);
    device.copy_to_host(values.data(), address + first, count * sizeof(float));
    unwritten += std::count_if(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), is_poison);
  }
  return unwritten;
}

void poison(Device& device, const DeviceBuffer& output, std::size_t floats) {
  poison(device, output.floats(), std::min(floats, output.bytes() / sizeof(float)));
}

Check check_output(Device& device, const DeviceBuffer& output, const Problem& problem, double tolerance) {
  Check check;
  const std::size_t floats =
      std::min(static_cast<std::size_t>(problem.shape.output_elements()), output.bytes() / sizeof(float));
  const auto image_elements = static_cast<std::size_t>(problem.shape.output_elements_per_image());
  check.unwritten = count_poison(device, output.floats(), floats);
  std::vector<float> values(image_elements);
  for (std::size_t i = 0; i < problem.compared_images.size(); ++i) {
    device.copy_to_host(values.data(), output.floats() + problem.compared_images[i] * image_elements,
                        image_elements * sizeof(float));
    compare_image(problem, i, values.data(), tolerance, check);
  }
  if (check.unwritten > 0) {
    const std::string unwritten = fmt::format("{} of {} output elements were never written", check.unwritten, floats);
    check.first_failure = check.first_failure.empty() ? unwritten : unwritten + "; first: " + check.first_failure;
  }
  check.passed = check.first_failure.empty();
  return check;
}

nlohmann::ordered_json Check::to_json() const {
  return {{"passed", passed},
          {"max_scaled_error", max_scaled_error},  // a NaN becomes null
          {"unwritten", unwritten},
          {"not_finite", not_finite},
          {"first_failure", first_failure.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(first_failure)}};
}

}  // namespace convladder
