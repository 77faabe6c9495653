#include "harness/verification/expectation.hpp"

#include <nlohmann/json.hpp>
#include <random>

#include "harness/verification/expected_items.hpp"
#include "harness/verification/expected_output.hpp"

namespace convladder {

std::uint64_t secret_number() {
  static std::random_device source;
  return std::uint64_t{source()} << 32U ^ source();
}

nlohmann::ordered_json Check::to_json() const {
  return {{"passed", passed},
          {"max_scaled_error", max_scaled_error},  // a NaN becomes null
          {"unwritten", unwritten},
          {"not_finite", not_finite},
          {"first_failure", first_failure.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(first_failure)}};
}

std::unique_ptr<Expectation> make_expectation(const ProblemData& data) {
  if (is_convolution(data.shape)) return std::make_unique<ExpectedOutput>(conv_problem(data));
  return std::make_unique<ExpectedItems>(data);
}

}  // namespace convladder
