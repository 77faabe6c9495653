#include "harness/measure/runs/cited_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "harness/measure/cases/line_columns.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr double kMuch = 0.3;             // of a counter, for a line to be worth naming
constexpr double kMostOfTheChange = 0.5;  // what a line of both has to account for, to be named alone

using Names = std::span<const char* const>;

/// The rate of such counters, as one for each access; null where there is none.
const LineColumn* rate_of(Names names) {
  const auto has = [names](const LineColumn& column) {
    return !column.divided_by.empty() && std::ranges::any_of(column.counters, [names](std::string_view counter) {
      return std::ranges::find(names, counter, [](const char* name) { return std::string_view(name); }) != names.end();
    });
  };
  const auto columns = line_columns();
  const auto found = std::ranges::find_if(columns, has);
  return found == columns.end() ? nullptr : &*found;
}

/// Counters of one case.
class CountedOf {
 public:
  CountedOf(Names names, const CaseCounters& of) : names_(names), of_(of), rate_(rate_of(names)) {
    for (const char* const name : names) total_ += counter_of(of.totals, name).value_or(0);
  }

  double total() const { return total_; }
  double at(const CountedLine& line) const { return added_up(line.counters, names_); }
  /// "8"; empty where the line has no such accesses.
  std::string rate(const CountedLine& line) const { return rate_ == nullptr ? "" : rate_->text_of(line.counters); }
  /// "a request".
  std::string each() const { return rate_ == nullptr ? "" : rate_->unit; }

  /// "tiles.cu:44 (97%, 4 a request)", the line with most of it; empty where none has much.
  std::string most() const {
    const auto line = std::ranges::max_element(of_.lines, {}, [this](const CountedLine& one) { return at(one); });
    if (line == of_.lines.end() || line->file.empty() || !(total_ > 0) || at(*line) < kMuch * total_) return "";
    const std::string each_time = rate(*line);
    return fmt::format("{} ({:.0f}%{})", line->place(), 100 * std::min(1.0, at(*line) / total_),
                       each_time.empty() ? "" : fmt::format(", {} {}", each_time, each()));
  }

 private:
  Names names_;
  const CaseCounters& of_;
  const LineColumn* rate_;
  double total_ = 0;
};

/// A line that both cases have, by its text and the order of such lines, wherever it stands.
struct LineOfBoth {
  const CountedLine* below = nullptr;
  const CountedLine* above = nullptr;
};

std::vector<LineOfBoth> lines_of_both(const CaseCounters& below, const CaseCounters& above) {
  using Text = std::tuple<std::string, std::string, int>;
  const auto text_of = [](const CountedLine& line) {
    return Text{line.file, line.source, line.source.empty() ? line.line : 0};
  };
  std::map<Text, std::vector<const CountedLine*>> by_text;
  for (const CountedLine& line : below.lines) by_text[text_of(line)].push_back(&line);
  std::vector<LineOfBoth> both;
  std::map<Text, std::size_t> taken;
  for (const CountedLine& line : above.lines) {
    const auto found = by_text.find(text_of(line));
    if (line.file.empty() || found == by_text.end()) continue;
    std::size_t& next = taken[found->first];
    if (next < found->second.size()) both.push_back({found->second[next++], &line});
  }
  return both;
}

}  // namespace

std::string cited_lines(const std::string& what, Names names, const CaseCounters& below, const CaseCounters& above) {
  if (below.lines.empty() || above.lines.empty()) return "";
  const CountedOf lower(names, below);
  const CountedOf upper(names, above);
  const double change = upper.total() - lower.total();
  if (change == 0) return "";
  const auto part = [&](const LineOfBoth& line) { return (upper.at(*line.above) - lower.at(*line.below)) / change; };
  const std::vector<LineOfBoth> both = lines_of_both(below, above);
  const auto most = std::ranges::max_element(both, {}, part);
  if (most != both.end() && part(*most) >= kMostOfTheChange) {
    const std::string before = lower.rate(*most->below);
    const std::string now = upper.rate(*most->above);
    const std::string where = fmt::format("line {} of {}: {}", most->above->line, most->above->file, what);
    if (!before.empty() && !now.empty() && before != now) {
      return fmt::format("{} {} -> {} {}", where, before, now, upper.each());
    }
    return fmt::format("{} {} -> {}", where, grouped_number(lower.at(*most->below)),
                       grouped_number(upper.at(*most->above)));
  }
  const std::string before = lower.most();
  const std::string now = upper.most();
  if (before.empty() && now.empty()) return "";
  const auto or_else = [](const std::string& most, const CountedOf& of) {
    return !most.empty() ? most : of.total() > 0 ? "several lines" : "none";
  };
  return fmt::format("{}: {} -> {}", what, or_else(before, lower), or_else(now, upper));
}

}  // namespace convladder
