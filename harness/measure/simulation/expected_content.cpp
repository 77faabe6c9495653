#include "harness/measure/simulation/expected_content.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "support/errors.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

std::optional<double> tolerance_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

/// How many colons a content has itself, without a tolerance after it.
std::size_t own_colons(const std::string& content) {
  if (content.starts_with("fill:")) return 2;
  if (content.starts_with("iota:") || content.starts_with("random:")) return 2;
  return 0;
}

/// The place of the colon before the tolerance; npos without one. A file's name may have colons.
std::size_t tolerance_colon(const std::string& content) {
  if (content.starts_with('@')) {
    const std::size_t colon = content.rfind(':');
    const bool is_file = content.ends_with(".npy") || content.ends_with(".bin");
    return is_file ? std::string::npos : colon;
  }
  std::size_t colon = content.find(':');
  for (std::size_t i = own_colons(content); i > 0 && colon != std::string::npos; --i) {
    colon = content.find(':', colon + 1);
  }
  return colon;
}

std::string shape_text(const std::vector<std::size_t>& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

/// The shape of a buffer or a variable as it will be compared.
std::vector<std::size_t> shape_of(const ReadContent& content, const SimulationInputs& inputs) {
  for (const auto* const list : {&inputs.arguments, &inputs.buffers, &inputs.references}) {
    for (const KernelArgument& argument : *list) {
      if (content.variable == nullptr && argument.is_buffer() && argument.name == content.name) return argument.shape;
    }
  }
  return variable_shape(content, inputs);
}

ExpectedContent parse_expectation(const std::string& text, const SimulationInputs& inputs, const ptx::Module& module) {
  const std::string what = "--expect " + text;
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    throw UserError(what + ": expected NAME=CONTENT[:RELATIVE[,ABSOLUTE]]");
  }
  ExpectedContent expectation;
  expectation.text = text;
  expectation.content = find_content(what, text.substr(0, equals), inputs, module);
  std::string content = text.substr(equals + 1);
  if (const std::size_t colon = tolerance_colon(content); colon != std::string::npos) {
    const std::vector<std::string> parts = split(content.substr(colon + 1), ',');
    const std::optional<double> relative = tolerance_of(parts.front());
    const std::optional<double> absolute = parts.size() > 1 ? tolerance_of(parts[1]) : std::optional<double>(0);
    if (!relative || !absolute || parts.size() > 2) {
      throw UserError(fmt::format("{}: expected a tolerance RELATIVE[,ABSOLUTE] behind the last colon, got '{}'", what,
                                  content.substr(colon + 1)));
    }
    expectation.relative = *relative;
    expectation.absolute = *absolute;
    content.resize(colon);
  }
  const ElementType type = expectation.content.type.value_or(ElementType::u8);
  expectation.expected = parse_content(what, type, content);
  const std::vector<std::size_t> shape = shape_of(expectation.content, inputs);
  const bool has_shape = content.ends_with(".npy") || own_colons(content) > 0;
  std::size_t elements = 1;
  for (const std::size_t size : shape) elements *= size;
  const std::size_t expected = expectation.expected.bytes.size() / element_bytes(*expectation.expected.type);
  if (expected != elements || (has_shape && expectation.expected.shape != shape)) {
    throw UserError(fmt::format("{}: {} values are expected, but '{}' has {}", what,
                                has_shape ? shape_text(expectation.expected.shape) : fmt::format("{}", expected),
                                expectation.content.name, shape_text(shape)));
  }
  return expectation;
}

bool passes(long double found, long double expected, const ExpectedContent& expectation) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  if (std::isinf(expected) || std::isinf(found)) return expected == found;
  return std::fabs(found - expected) <= expectation.absolute + expectation.relative * std::fabs(expected);
}

}  // namespace

std::vector<ExpectedContent> parse_expectations(const std::vector<std::string>& texts, const SimulationInputs& inputs,
                                                const ptx::Module& module) {
  std::vector<ExpectedContent> expectations;
  expectations.reserve(texts.size());
  for (const std::string& text : texts) expectations.push_back(parse_expectation(text, inputs, module));
  return expectations;
}

ExpectationOutcome compare(const ExpectedContent& expectation, const BufferContent& found) {
  const KernelArgument& expected = expectation.expected;
  const std::size_t found_bytes = element_bytes(found.type);
  const std::size_t expected_bytes = element_bytes(*expected.type);
  ExpectationOutcome outcome;
  outcome.text = expectation.text;
  outcome.name = found.name;
  outcome.elements = found.bytes.size() / found_bytes;
  for (std::size_t i = 0; i < outcome.elements; ++i) {
    const std::byte* const found_at = found.bytes.data() + i * found_bytes;
    const std::byte* const expected_at = expected.bytes.data() + i * expected_bytes;
    const long double found_value = element_number(found.type, found_at);
    const long double expected_value = element_number(*expected.type, expected_at);
    const auto difference = static_cast<double>(std::fabs(found_value - expected_value));
    if (std::isfinite(difference)) outcome.largest_difference = std::max(outcome.largest_difference, difference);
    if (passes(found_value, expected_value, expectation) || outcome.wrong++ > 0) continue;
    outcome.first_wrong = i;
    outcome.first_found = element_text(found.type, found_at);
    outcome.first_expected = element_text(*expected.type, expected_at);
  }
  for (std::size_t rest = outcome.first_wrong, i = found.shape.size(); i > 0; --i) {
    outcome.first_index.insert(outcome.first_index.begin(), rest % found.shape[i - 1]);
    rest /= found.shape[i - 1];
  }
  return outcome;
}

}  // namespace convladder
