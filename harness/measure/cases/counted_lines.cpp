#include "harness/measure/cases/counted_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <tuple>
#include <utility>

#include "support/folder_links.hpp"
#include "support/source_text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

constexpr double kWorthKeeping = 0.05;     // of a counter of the whole case
constexpr std::size_t kLongestText = 120;  // bytes of a line

/// Whether the file is below the folder, links resolved.
bool is_below(const fs::path& folder, const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (folder.empty() || error) return false;
  const fs::path from = fs::canonical(folder, error);
  return !error && lies_in(real, from);
}

}  // namespace

std::string CountedLine::place() const { return file.empty() ? "no line" : fmt::format("{}:{}", file, line); }

std::vector<CountedLine> counted_lines(std::vector<LineCounters> all) {
  std::map<std::string, double> totals;
  for (const LineCounters& one : all) {
    for (const auto& [name, value] : one.counters) totals[name] += value;
  }
  std::vector<CountedLine> lines;
  for (LineCounters& one : all) {
    const bool is_kept = std::ranges::any_of(one.counters, [&totals](const auto& counter) {
      return counter.second >= kWorthKeeping * totals.at(counter.first);
    });
    if (is_kept) lines.push_back({std::move(one.path), one.line, {}, std::move(one.counters)});
  }
  std::ranges::sort(lines, {}, [](const CountedLine& one) { return std::tie(one.file, one.line); });
  return lines;
}

void read_sources(std::vector<CountedLine>& lines, const std::optional<fs::path>& folder) {
  std::map<std::string, std::vector<std::string>> texts;
  for (CountedLine& one : lines) {
    const auto [text, is_new] = texts.try_emplace(one.file);
    // A name without its folder is that of a build whose sources are elsewhere, not of a file in this folder.
    const bool is_known = fs::path(one.file).is_absolute();
    if (is_new && is_known && (!folder || is_below(*folder, one.file))) text->second = source_lines(one.file);
    const auto at = static_cast<std::size_t>(one.line);
    if (at >= 1 && at <= text->second.size()) one.source = short_source(text->second[at - 1], kLongestText);
    one.file.erase(0, one.file.find_last_of('/') + 1);
  }
}

}  // namespace convladder
