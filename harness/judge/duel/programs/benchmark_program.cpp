#include "harness/judge/duel/programs/benchmark_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "harness/judge/duel/programs/command_words.hpp"
#include "ladders/program_output.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr double kMostSecondsToList = 60;
constexpr std::uint64_t kLargestProgram = std::uint64_t{4} << 30;
constexpr std::string_view kOfThisProgram[] = {"serve-case", "serve-about"};  // commands that no other program has

/// The text in single quotes, as a shell and command_words take it.
std::string in_single_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char one : text) quoted += one == '\'' ? std::string("'\\''") : std::string(1, one);
  return quoted + '\'';
}

/// Matches nothing but the text, in extended regular expressions of POSIX and in ECMAScript's.
std::string literal_pattern(std::string_view text) {
  constexpr std::string_view special = R"(\^$.|?*+()[]{})";
  std::string pattern;
  for (const char one : text) {
    if (special.find(one) != std::string_view::npos) pattern += '\\';
    pattern += one;
  }
  return pattern;
}

/// The name in a line "## [3] `name` (4 configurations)" of nvbench's list; empty for other lines.
std::string nvbench_name(std::string_view line) {
  if (!line.starts_with("## [")) return {};
  const std::size_t first = line.find('`');
  const std::size_t last = line.rfind('`');
  return first < last ? std::string(line.substr(first + 1, last - first - 1)) : std::string();
}

std::vector<std::string> names_in(const std::string& list, BenchmarkFramework framework) {
  std::vector<std::string> names;
  bool are_benchmarks = framework == BenchmarkFramework::google;  // nvbench lists its devices first, in the same form
  for (const std::string& line : split(list, '\n')) {
    if (framework == BenchmarkFramework::google) {
      if (!trimmed(line).empty()) names.emplace_back(trimmed(line));
      continue;
    }
    if (line.starts_with("# ")) are_benchmarks = line.starts_with("# Benchmarks");
    if (std::string name = nvbench_name(line); are_benchmarks && !name.empty()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

BenchmarkFramework benchmark_framework_of(const std::string& program) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(program, error)) return BenchmarkFramework::none;
  const std::string content = read_file_text(program, kLargestProgram);
  const auto is_there = [&](std::string_view text) { return content.find(text) != std::string::npos; };
  if (std::ranges::any_of(kOfThisProgram, is_there)) return BenchmarkFramework::none;
  if (content.find("nvbench") != std::string::npos) return BenchmarkFramework::nvbench;
  const bool is_google =
      content.find("benchmark_list_tests") != std::string::npos || content.find("libbenchmark.so") != std::string::npos;
  return is_google ? BenchmarkFramework::google : BenchmarkFramework::none;
}

std::vector<std::string> benchmarks_of(const std::string& program, BenchmarkFramework framework,
                                       const TextPattern& wanted) {
  const bool is_google = framework == BenchmarkFramework::google;
  ProgramSettings settings;
  settings.seconds = kMostSecondsToList;
  const std::string path = std::filesystem::absolute(program).string();
  const ProgramOutput output = run_program({path, is_google ? "--benchmark_list_tests=true" : "--list"}, settings);
  if (!output.succeeded()) {
    throw UserError(fmt::format("{}: lists no benchmarks ({}{})", printable(program),
                                is_google ? "--benchmark_list_tests" : "--list",
                                output.timed_out ? ": no answer" : " failed"));
  }
  std::vector<std::string> names;
  for (std::string& name : names_in(output.text, framework)) {
    if (wanted.matches(name)) names.push_back(std::move(name));
  }
  return names;
}

std::string benchmark_command(const std::string& program, BenchmarkFramework framework, const std::string& options) {
  const std::string path = in_single_quotes(std::filesystem::absolute(program).string());
  const std::string own = options.empty() ? "" : " " + options;
  if (framework == BenchmarkFramework::google) {
    return path + " '--benchmark_filter=^{}$' --benchmark_repetitions=5 --benchmark_min_time=0.01" + own +
           " --benchmark_format=console '--benchmark_out={json}' --benchmark_out_format=json";
  }
  return path +
         " -b '{}' --stopping-criterion sample-count --target-samples 30 --min-samples 30 --no-batch "
         "--throttle-threshold 0 --timeout 15 -q" +
         own + " --jsonbin '{json}'";
}

std::string benchmark_argument(const std::string& name, BenchmarkFramework framework) {
  const std::string text = framework == BenchmarkFramework::google ? literal_pattern(name) : name;
  const std::string quoted = in_single_quotes(text);
  return quoted.substr(1, quoted.size() - 2);  // it stands in quotes already
}

}  // namespace convladder
