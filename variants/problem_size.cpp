#include "variants/problem_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

#include "support/text.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

constexpr double kMostElements = 2147483648.0;  // of an item or a constant: kernels index inside them with 32 bits

std::string expected_text(const Problem& problem) {
  std::string text;
  for (const Dimension& dimension : problem.dimensions()) {
    text += dimension.usual ? fmt::format("[{}N]", dimension.letter) : fmt::format("{}N", dimension.letter);
  }
  return text;
}

std::int64_t sum_of_elements(const std::vector<ProblemTensor>& tensors) {
  std::int64_t sum = 0;
  for (const ProblemTensor& tensor : tensors) sum += tensor.elements;
  return sum;
}

double sum_of_bytes(const std::vector<ProblemTensor>& tensors) {
  double sum = 0;
  for (const ProblemTensor& tensor : tensors) sum += static_cast<double>(tensor.bytes());
  return sum;
}

/// Empty if a size has possible tensors, otherwise the error in one of them, in one line.
std::string tensors_error(const Problem& problem, const ProblemSize& size) {
  std::set<std::string_view> names;
  const auto error_of = [&](const ProblemTensor& tensor, bool is_result) -> std::string {
    if (!names.insert(tensor.name).second) return fmt::format("two tensors are called {}", tensor.name);
    if (static_cast<double>(tensor.elements) >= kMostElements) {
      return fmt::format("{} of one item has 2^31 elements or more", tensor.name);
    }
    if (tensor.elements < 1) return fmt::format("{} has no elements", tensor.name);
    if (is_result && (tensor.type == ElementType::i64 || tensor.type == ElementType::u64)) {
      return fmt::format("{} is of {}, which a reference in float64 does not hold", tensor.name,
                         element_name(tensor.type));
    }
    return {};
  };
  const std::vector<ProblemTensor> constants = problem.constants(size);
  const std::vector<ProblemTensor> inputs = problem.inputs(size);
  const std::vector<ProblemTensor> results = problem.results(size);
  for (const auto& [tensors, is_result] : {std::pair(&constants, false), {&inputs, false}, {&results, true}}) {
    for (const ProblemTensor& tensor : *tensors) {
      if (std::string error = error_of(tensor, is_result); !error.empty()) return error;
    }
  }
  return results.empty() ? "nothing comes of it: it has no output" : std::string();
}

[[noreturn]] void fail(const Problem& problem, std::string_view text, const std::string& what) {
  if (problem.dimensions().empty()) {
    throw std::invalid_argument(fmt::format("{}: {} has only one size, '{}'", text, problem.name(), kOnlySize));
  }
  std::string meaning;
  for (const Dimension& one : problem.dimensions()) {
    meaning += fmt::format("{}{} {}", meaning.empty() ? "" : ", ", one.letter, one.name);
  }
  throw std::invalid_argument(
      fmt::format("{}: {}; a size of {} is {} ({})", text, what, problem.name(), expected_text(problem), meaning));
}

}  // namespace

int ProblemSize::at(std::string_view dimension) const {
  const std::vector<Dimension> dimensions = problem->dimensions();
  const auto found = std::ranges::find_if(
      dimensions, [&](const Dimension& one) { return one.letter == dimension || one.name == dimension; });
  if (found == dimensions.end()) throw std::logic_error(fmt::format("{} has no {}", problem->name(), dimension));
  return values.at(static_cast<std::size_t>(found - dimensions.begin()));
}

ProblemSize ProblemSize::with_batch(int new_batch) const {
  ProblemSize size = *this;
  size.batch = new_batch;
  return size;
}

std::int64_t ProblemSize::input_elements_per_item() const { return sum_of_elements(problem->given(*this)); }
std::int64_t ProblemSize::output_elements_per_item() const { return sum_of_elements(problem->results(*this)); }
std::int64_t ProblemSize::constant_elements() const { return sum_of_elements(problem->constants(*this)); }

double ProblemSize::input_bytes() const { return batch * sum_of_bytes(problem->given(*this)); }
double ProblemSize::output_bytes() const { return batch * sum_of_bytes(problem->results(*this)); }

double ProblemSize::flop() const { return batch * problem->flop(*this); }
double ProblemSize::least_flop() const { return batch * problem->least_flop(*this); }

double ProblemSize::minimum_bytes() const {
  const std::optional<double> of_item = problem->least_bytes(*this);
  return of_item ? batch * *of_item : tensor_bytes();
}

double ProblemSize::tensor_bytes() const {
  return input_bytes() + sum_of_bytes(problem->constants(*this)) + output_bytes();
}

std::string size_name(const ProblemSize& size) { return size.problem->size_text(size); }

std::string size_error(const ProblemSize& size) {
  const std::vector<Dimension> dimensions = size.problem->dimensions();
  if (size.values.size() != dimensions.size()) {
    return fmt::format("a size of {} has {} numbers, not {}", size.problem->name(), dimensions.size(),
                       size.values.size());
  }
  if (size.batch < 1) return fmt::format("batch is {}, it must be at least 1", size.batch);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const Dimension& one = dimensions[i];
    if (size.values[i] >= one.smallest && size.values[i] <= one.largest) continue;
    return fmt::format("{} is {}, it must be {} to {}", one.name, size.values[i], one.smallest, one.largest);
  }
  if (std::string error = size.problem->own_size_error(size); !error.empty()) return error;
  return tensors_error(*size.problem, size);
}

ProblemSize parse_size(const Problem& problem, std::string_view text) {
  const std::vector<Dimension> dimensions = problem.dimensions();
  ProblemSize size{&problem, 1, {}};
  std::vector<bool> given(dimensions.size(), false);
  for (const Dimension& one : dimensions) size.values.push_back(one.usual.value_or(0));
  if (dimensions.empty() && text == kOnlySize) return size;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_capital(text[end])) ++end;
    const std::string_view letter = text.substr(at, end - at);
    const auto found = std::ranges::find(dimensions, letter, &Dimension::letter);
    if (found == dimensions.end()) fail(problem, text, fmt::format("'{}' is not one of its dimensions", letter));
    const auto which = static_cast<std::size_t>(found - dimensions.begin());
    const auto [rest, error] = std::from_chars(text.data() + end, text.data() + text.size(), size.values[which]);
    if (error != std::errc() || given[which]) fail(problem, text, fmt::format("expected one number after {}", letter));
    given[which] = true;
    at = static_cast<std::size_t>(rest - text.data());
  }
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (!given[i] && !dimensions[i].usual) fail(problem, text, fmt::format("{} is missing", dimensions[i].letter));
  }
  if (const std::string error = size_error(size); !error.empty()) fail(problem, text, error);
  return size;
}

}  // namespace convladder
