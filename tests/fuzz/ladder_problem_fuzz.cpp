// libFuzzer target for what a folder says: problem.json and, behind a line of dashes, the head of a stage. Whatever the
// text is, it is a problem whose sizes have tensors that can be filled or say why not, or a UserError that names the
// file in one line.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ladders/expression.hpp"
#include "ladders/folder_problem.hpp"
#include "ladders/launch_plan.hpp"
#include "ladders/ptx_entries.hpp"
#include "ladders/stage_source.hpp"
#include "support/errors.hpp"
#include "variants/problem_size.hpp"

namespace convladder {
namespace {

constexpr std::string_view kBetween = "\n----\n";
/// For stages behind what is no problem.
constexpr const char* kUsual = R"({
  "name": "usual", "dimensions": {"M": {"name": "m"}, "N": {"name": "n"}, "K": {"name": "k"}}, "sizes": ["M1N1K1"],
  "derived": {"H": "N / 2"}, "work": {"flop": "N"}, "scalars": [{"name": "a", "type": "f16", "value": "2"}], "tensors": [
  {"name": "x", "role": "in", "type": "f32", "shape": ["N"]},
  {"name": "y", "role": "out", "type": "f32", "shape": ["N"], "compare": "exact"}]})";
constexpr std::int64_t kMostFilled = 2000;  // elements: more of them would only take time

void require(bool condition) {
  if (!condition) std::abort();
}

void require_one_line(std::string_view message) { require(message.find('\n') == std::string_view::npos); }

/// What is given of a size, drawn as a run draws it: no value may be one that its type does not hold.
void fill(const FolderProblem& problem, const ProblemSize& size) {
  SeededRandom random(1, 0);
  std::vector<ProblemTensor> given = problem.inputs(size);
  for (const ProblemTensor& one : problem.in_outs(size)) given.push_back(one);
  for (const ProblemTensor& one : given) {
    require(one.elements > 0);
    if (one.elements > kMostFilled) continue;
    std::vector<std::byte> bytes(one.bytes());
    for (const bool whole : {false, true}) problem.fill(size, PlacedTensor{one, bytes.data()}, random, whole);
  }
}

void check(const FolderProblem& problem) {
  const LadderProblem& ladder = problem.ladder();
  require(!ladder.name.empty() && !ladder.sizes.empty() && !ladder.counted_sizes.empty());
  require(!ladder.signature(true).empty() && !ladder.reference_signature().empty());
  for (const auto* const sizes : {&ladder.sizes, &ladder.counted_sizes}) {
    for (const std::string& text : *sizes) {
      try {
        const ProblemSize size = parse_size(problem, text);
        require(parse_size(problem, size_name(size)) == size);
        require(problem.flop(size) > 0 && size.tensor_bytes() > 0);
        fill(problem, size);
      } catch (const std::invalid_argument& error) {
        require_one_line(error.what());
      }
    }
  }
  for (const int value : {1, 2, 7, 1000}) {
    try {
      const SizeValues size = ladder.size_values(std::vector<int>(ladder.dimensions.size(), value));
      for (const LadderTensor& one : ladder.tensors) require(ladder.elements(one, size) > 0);
      require(ladder.flop.value(size) > 0);
    } catch (const std::invalid_argument& error) {
      require_one_line(error.what());
    }
  }
}

/// Every condition of a stage, with the names that the problem has, or others where it is none.
void check(const StageSource& stage, const std::vector<std::string>& names) {
  require(!stage.name.empty() && !stage.title.empty() && stage.rung == 1);
  for (const StageParameter& one : stage.parameters) require(!one.name.empty() && !one.values.empty());
  for (const std::string& library : stage.libraries) require(!library.empty() && !library.starts_with("/"));
  for (const std::string& text : stage.needs) {
    try {
      const Expression need(text, names);
      for (const double value : {0.0, 1.0, 7.0, 1e9}) {
        static_cast<void>(need.value(std::vector<double>(names.size(), value)));
      }
    } catch (const std::invalid_argument& error) {
      require_one_line(error.what());
    }
  }
}

/// What its launches come to: source with all of the stage's text in it, or a UserError that names the line.
void check_launches(const StageSource& stage, const LadderProblem& problem, std::string_view text) {
  if (stage.launches.empty()) return;
  for (const StageLaunch& one : stage.launches) {
    const bool is_python = stage.language == StageLanguage::python;
    require(one.line > 0 && !one.kernel.empty() && one.grid.size() <= 3 && one.block.size() <= 3 &&
            !one.shared.empty());
    require(!one.grid.empty() || (is_python && !one.threads.empty()));
    require(!one.block.empty() || is_python);
  }
  const LaunchPlan plan(stage, problem, "fuzzed");
  std::vector<int> values;
  for (const StageParameter& one : stage.parameters) values.push_back(one.values.front());
  require(!plan.first_text().empty());
  if (stage.language == StageLanguage::cuda) {
    require(plan.cuda_source("fuzzed.cu", values).find("<<<") != std::string::npos);
  } else if (stage.language == StageLanguage::ptx) {
    require(plan.ptx_source(plan.ptx_launches(text), values).size() > text.size());
  }
}

/// Whatever stands in the comments and quotes of a PTX text, its kernels are of the text.
void check_entries(std::string_view text) {
  for (const PtxEntry& one : ptx_entries(text)) {
    require(text.find(one.name) != std::string_view::npos);
    for (const PtxParameter& parameter : one.parameters) require(parameter.type.starts_with('.'));
  }
}

template <typename Read>
void read_one(const Read& read) {
  try {
    read();
  } catch (const UserError& error) {
    const std::string_view message = error.what();
    require(message.starts_with("fuzzed:"));
    require_one_line(message);
  }
}

}  // namespace
}  // namespace convladder

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convladder;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const std::size_t end = std::min(text.find(kBetween), size);
  const std::string_view stage = text.substr(std::min(end + kBetween.size(), size));
  static const LadderProblem usual = parse_problem(kUsual, "usual");
  const LadderProblem* problem = &usual;
  std::optional<FolderProblem> own;
  read_one([&] {
    own.emplace(std::string(text.substr(0, end)), "fuzzed");
    problem = &own->ladder();
    check(*own);
  });
  for (const char* const file : {"01_fuzzed.cu", "01_fuzzed.ptx"}) {
    for (const std::string_view of : {stage, text}) {
      read_one([&] {
        const StageSource read = parse_stage(of, file, "fuzzed");
        check(read, problem->names());
        check_launches(read, *problem, of);
      });
    }
  }
  check_entries(stage);
  static_cast<void>(is_meant_as_stage(text.substr(0, 100)));
  return 0;
}
