#include "harness/measure/cases/self_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "harness/measure/cases/case_verifier.hpp"
#include "harness/measure/verification/fresh_input.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

using Bytes = std::vector<std::byte>;

/// A made-up answer: the contents of each result, and the inputs as a call has found them.
class Answer {
 public:
  Answer(const ProblemData& data, const CallSetting& setting) : data_(data) {
    for (const InputLayout& layout : input_layouts_with_ranges(data)) {
      Bytes& values = given_.emplace_back(layout.bytes_per_image());
      const std::byte* const own = data.given[layout.tensor].bytes.data();
      write_image_of_call(values.data(), setting.change, layout, own, 0, setting.call);
    }
    for (const ProblemTensor& one : data.shape.problem->results(data.shape)) results_.emplace_back(one.bytes());
  }

  std::vector<Bytes>& results() { return results_; }
  const Bytes& given(std::size_t which) const { return given_[which]; }

  bool passes(const Expectation& expected, const CallSetting& setting, double tolerance) const {
    const std::vector<ProblemTensor> names = data_.shape.problem->results(data_.shape);
    const ReadTensor read = [&](std::string_view tensor, std::int64_t first, std::int64_t) -> const void* {
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].name == tensor) return results_[i].data() + first * element_bytes(names[i].type);
      }
      for (std::size_t i = 0; i < data_.given.size(); ++i) {
        const ProblemTensor& one = data_.given[i].tensor;
        if (one.name == tensor) return given_[i].data() + first * element_bytes(one.type);
      }
      return nullptr;
    };
    return expected.compare(read, std::numeric_limits<std::int64_t>::max() / 16, setting, tolerance).passed;
  }

 private:
  const ProblemData& data_;
  std::vector<Bytes> given_;
  std::vector<Bytes> results_;
};

/// Writes the reference's results for the given input, each in its type.
void write_reference(const ProblemData& data, Answer& answer) {
  ProblemTensors item;
  const std::size_t inputs = data.shape.problem->inputs(data.shape).size();
  for (std::size_t i = 0; i < data.given.size(); ++i) {
    PlacedTensor placed{data.given[i].tensor, const_cast<std::byte*>(answer.given(i).data())};
    (i < inputs ? item.inputs : item.in_outs).push_back(placed);
  }
  const std::vector<ReferenceOutput> outputs = data.shape.problem->reference(data.shape, item);
  const std::vector<ProblemTensor> results = data.shape.problem->results(data.shape);
  for (std::size_t which = 0; which < results.size(); ++which) {
    with_element_type(results[which].type, [&]<typename T>(T) {
      auto* const to = reinterpret_cast<T*>(answer.results()[which].data());
      for (std::size_t i = 0; i < outputs[which].value.size(); ++i) to[i] = from_double<T>(outputs[which].value[i]);
    });
  }
}

}  // namespace

void require_telling_problem(const Workload& workload) {
  const ProblemData& data = workload.real();
  const Problem& problem = *data.shape.problem;
  const Expectation& expected = workload.expected(ProblemKind::real);
  const double tolerance = problem.granted_tolerance(0, data.shape);
  SeededRandom random(secret_number(), 0);
  CallSetting setting = draw_setting(expected, random, false, false, Pokes::one);
  setting.call = 1;
  const auto refuse = [&](const std::string& what) {
    throw UserError(
        fmt::format("{} {}: {} would pass: its tolerance, or what its reference says that errors are "
                    "relative to, is too large, or its inputs say nothing",
                    problem.name(), size_name(data.shape), what));
  };

  Answer answer(data, setting);
  if (answer.passes(expected, setting, tolerance)) refuse("an output of zeros");

  const std::vector<ProblemTensor> results = problem.results(data.shape);
  for (std::size_t i = 0; i < data.given.size(); ++i) {
    const ProblemTensor& from = data.given[i].tensor;
    const auto fits = [&](const ProblemTensor& to) { return to.type == from.type && to.elements == from.elements; };
    if (!std::ranges::all_of(results, fits)) continue;
    for (Bytes& one : answer.results()) one = answer.given(i);
    if (answer.passes(expected, setting, tolerance)) refuse(fmt::format("a copy of '{}'", from.name));
  }

  CallSetting before = draw_setting(expected, random, false, false, Pokes::one);
  before.call = 1;
  Answer last(data, before);
  write_reference(data, last);
  for (std::size_t i = 0; i < last.results().size(); ++i) answer.results()[i] = last.results()[i];
  if (answer.passes(expected, setting, tolerance)) refuse("the answer to another input");
}

}  // namespace convladder
