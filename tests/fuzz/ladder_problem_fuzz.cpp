// libFuzzer target for what a folder says: problem.json and, behind a line of dashes, the head of a stage. Whatever the
// text is, it is a problem whose sizes have tensors that can be filled or say why not, or a UserError that names the
// file in one line.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ladders/expression.hpp"
#include "ladders/folder_problem.hpp"
#include "ladders/stage_source.hpp"
#include "support/errors.hpp"
#include "variants/problem_size.hpp"

namespace convladder {
namespace {

constexpr std::string_view kBetween = "\n----\n";
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
  std::vector<std::string> names{"M", "N", "K"};
  read_one([&] {
    const FolderProblem problem(std::string(text.substr(0, end)), "fuzzed");
    names = problem.ladder().names();
    check(problem);
  });
  read_one([&] { check(parse_stage(stage, "01_fuzzed.cu", "fuzzed"), names); });
  read_one([&] { check(parse_stage(text, "01_fuzzed.cu", "fuzzed"), names); });
  static_cast<void>(is_meant_as_stage(text.substr(0, 100)));
  return 0;
}
