// Expressions as C++ source.
#include <fmt/format.h>

#include <utility>

#include "ladders/expression.hpp"

namespace convladder {
namespace {

/// Takes the last one or two operands off the stack and puts them into the pattern, as {0} and {1}.
std::string with_operands(std::vector<std::string>& stack, const char* pattern, bool is_of_two) {
  std::string right;
  if (is_of_two) {
    right = std::move(stack.back());
    stack.pop_back();
  }
  const std::string left = std::move(stack.back());
  stack.pop_back();
  return fmt::format(fmt::runtime(pattern), left, right);
}

}  // namespace

std::string Expression::c_text(const std::vector<std::string>& values) const {
  std::vector<std::string> stack;
  for (const Step& step : steps_) {
    const auto of_two = [&](const char* pattern) { stack.push_back(with_operands(stack, pattern, true)); };
    const auto of_one = [&](const char* pattern) { stack.push_back(with_operands(stack, pattern, false)); };
    switch (step.operation) {
      case Operation::number:
        stack.push_back(fmt::format("double({})", step.number));
        break;
      case Operation::name:
        stack.push_back(values.at(step.which));
        break;
      case Operation::add:
        of_two("({} + {})");
        break;
      case Operation::subtract:
        of_two("({} - {})");
        break;
      case Operation::multiply:
        of_two("({} * {})");
        break;
      case Operation::divide:
        of_two("({} / {})");
        break;
      case Operation::power:
        of_two("pow({}, {})");
        break;
      case Operation::min:
        of_two("convladder_min({}, {})");
        break;
      case Operation::max:
        of_two("convladder_max({}, {})");
        break;
      case Operation::div:
        of_two("floor({} / {})");
        break;
      case Operation::mod:
        of_two("convladder_mod({}, {})");
        break;
      case Operation::equal:
        of_two("double({} == {})");
        break;
      case Operation::not_equal:
        of_two("double({} != {})");
        break;
      case Operation::less:
        of_two("double({} < {})");
        break;
      case Operation::at_most:
        of_two("double({} <= {})");
        break;
      case Operation::more:
        of_two("double({} > {})");
        break;
      case Operation::at_least:
        of_two("double({} >= {})");
        break;
      case Operation::negate:
        of_one("(-{})");
        break;
      case Operation::ceil:
        of_one("ceil({})");
        break;
      case Operation::floor:
        of_one("floor({})");
        break;
      case Operation::sqrt:
        of_one("sqrt({})");
        break;
      case Operation::log2:
        of_one("log2({})");
        break;
    }
  }
  return stack.back();
}

}  // namespace convladder
