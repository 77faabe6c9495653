// How often compare, duel and history err, and what they find, over the recorded traces of tests/corpus.
//
//   cmake --build build/release --target comparison_rates && build/release/tests/benchmarks/comparison_rates
//
// --check FILE      whether the file holds these tables: a change of a method has to show its rates
// --update FILE     puts them there
// --traces FOLDER   of other traces, as tests/corpus/record_traces.py makes them

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "corpus/rates.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

std::string all_rates(const std::filesystem::path& folder) {
  const std::vector<TraceSession> sessions = read_traces(folder);
  const RunsByLoad runs = runs_by_load(sessions);
  return traces_text(sessions) + duel_rates(sessions) + comparison_rates(runs) + history_rates(runs) +
         naive_rates(runs);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UserError(fmt::format("cannot read {}", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr std::string_view kBegin = "```text\ntraces\n";
constexpr std::string_view kEnd = "```\n";

/// Where the tables stand in a page: the block that begins with "traces".
std::pair<std::size_t, std::size_t> place_in(const std::string& page, const std::string& path) {
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = begin == std::string::npos ? begin : page.find(kEnd, begin + kBegin.size());
  if (end == std::string::npos) throw UserError(fmt::format("{} has no block of tables", path));
  return {begin + std::string_view("```text\n").size(), end};
}

/// The first line that differs.
std::string difference(std::string_view then, std::string_view now) {
  while (!then.empty() && !now.empty()) {
    const std::string_view old_line = then.substr(0, then.find('\n'));
    const std::string_view new_line = now.substr(0, now.find('\n'));
    if (old_line != new_line) return fmt::format("  there: {}\n  now:   {}\n", old_line, new_line);
    then.remove_prefix(std::min(then.size(), old_line.size() + 1));
    now.remove_prefix(std::min(now.size(), new_line.size() + 1));
  }
  return "  one is longer than the other\n";
}

int check(const std::string& path, const std::string& rates) {
  const std::string page = text_of(path);
  const auto [begin, end] = place_in(page, path);
  const std::string there = page.substr(begin, end - begin);
  if (there == rates) return kExitOk;
  fmt::print(
      "The rates of compare, duel and history over the corpus are not those of {}:\n{}"
      "If a method was meant to change, comparison_rates --update {} shows by how much. Commit the page.\n",
      path, difference(there, rates), path);
  return kExitCasesFailed;
}

void update(const std::string& path, const std::string& rates) {
  std::string page = text_of(path);
  const auto [begin, end] = place_in(page, path);
  std::ofstream(path) << page.replace(begin, end - begin, rates);
}

int run(const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> options;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) options[arguments[i]] = arguments[i + 1];
  const auto is_known = [](const auto& one) {
    return one.first == "--check" || one.first == "--update" || one.first == "--traces";
  };
  if (arguments.size() % 2 != 0 || !std::ranges::all_of(options, is_known)) {
    throw UserError("usage: comparison_rates [--traces FOLDER] [--check FILE | --update FILE]");
  }
  const std::string rates = all_rates(options.contains("--traces") ? options["--traces"] : CONVLADDER_TRACES);
  if (options.contains("--check")) return check(options["--check"], rates);
  if (options.contains("--update")) {
    update(options["--update"], rates);
  } else {
    fmt::print("{}", rates);
  }
  return kExitOk;
}

}  // namespace
}  // namespace convladder

int main(int argc, char** argv) try {
  return convladder::run({argv + 1, argv + argc});
} catch (const std::exception& error) {
  fmt::print(stderr, "comparison_rates: {}\n", error.what());
  return convladder::kExitError;
}
