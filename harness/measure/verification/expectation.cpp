#include "harness/measure/verification/expectation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "harness/measure/verification/expected_items.hpp"
#include "harness/measure/verification/expected_output.hpp"
#include "harness/measure/verification/scaled_error.hpp"

namespace convladder {

std::uint64_t secret_number() {
  static std::random_device source;
  return std::uint64_t{source()} << 32U ^ source();
}

Check check_probed(const ProblemTensor& tensor, const ChosenElements& elements, const std::optional<OutputFill>& fill,
                   const ReferenceOutput& expected, std::int64_t item, const void* found, double tolerance) {
  Check check;
  check.compared = elements.count;
  with_element_type(tensor.type, [&]<typename T>(T) {
    for (std::int32_t i = 0; i < elements.count; ++i) {
      const std::int64_t element = elements.element(i);
      const auto at = static_cast<std::size_t>(i);
      const T value = static_cast<const T*>(found)[i];
      if (!std::isfinite(to_double(value))) ++check.not_finite;
      const double scaled = scaled_error(value, expected.value.at(at), expected.magnitude.at(at));
      if (!std::isnan(check.max_scaled_error) && !(scaled <= check.max_scaled_error)) check.max_scaled_error = scaled;
      if (scaled <= tolerance) continue;
      const bool left = fill && fill->left_at(element, value);
      check.unwritten += left ? 1 : 0;
      if (!check.first_failure.empty()) continue;
      check.first_failure = fmt::format("right behind a call, item {}, element {} of {} {}, expected {:.9g}", item,
                                        element - item * tensor.elements, tensor.name,
                                        left ? "was not yet written" : "is " + number_text(value), expected.value[at]);
    }
  });
  check.passed = check.first_failure.empty();
  return check;
}

std::unique_ptr<Expectation> make_expectation(const ProblemData& data) {
  if (data.shape.problem->is_linear()) return std::make_unique<ExpectedOutput>(data);
  return std::make_unique<ExpectedItems>(data);
}

}  // namespace convladder
