#include "harness/judge/ranking/rank_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "support/units.hpp"

namespace convladder {
namespace {

constexpr std::size_t kLongestName = 28;
constexpr std::size_t kBeginOfName = 16;
constexpr std::size_t kSizesInATable = 4;
constexpr std::size_t kMostNamed = 5;  // entries that were left alone

/// The places where UTF-8 characters begin.
std::vector<std::size_t> characters(const std::string& text) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80) begins.push_back(i);
  }
  return begins;
}

/// Shortens long names in the middle: they differ at the beginning or the end. No short name is given twice.
class ShortNames {
 public:
  std::string of(const std::string& name) {
    const std::vector<std::size_t> begins = characters(name);
    std::string text = name;
    if (begins.size() > kLongestName) {
      text = name.substr(0, begins[kBeginOfName]) + "…" +
             name.substr(begins[begins.size() - (kLongestName - kBeginOfName - 1)]);
    }
    const int number = ++given_[text];
    return number == 1 ? text : fmt::format("{} #{}", text, number);
  }

 private:
  std::map<std::string, int> given_;
};

std::string ratio_text(double log) {
  const double value = std::exp(log);
  if (value < 0.00995) return fmt::format("{:.2g}", value);
  return fmt::format("{:.{}f}", value, value < 0.0995 ? 3 : value < 9.95 ? 2 : 1);
}

std::string figure_text(const std::optional<double>& figure, const std::string& figures) {
  if (!figure) return "-";
  return figures == "counted" ? fmt::format("{:.4g} cycles", *figure) : time_text(*figure);
}

std::string rank_text(const RankRow& row) {
  if (!row.rank) return "-";
  return fmt::format("{}{}", *row.rank, row.shares_rank ? "=" : "");
}

std::string status_text(const RankRow& row, std::size_t sizes) {
  if (row.is_baseline) return fmt::format("{}: the baseline", role_name(row.entry->role));
  if (row.status == Status::ok) {
    return row.same_as.empty() ? "ok" : fmt::format("ok; the same source as {}", ShortNames().of(row.same_as));
  }
  const auto there = std::ranges::count_if(row.sizes, [](const RankedSize& one) { return one.speed.has_value(); });
  const std::string of_sizes =
      there > 0 && !is_failure(row.status) ? fmt::format(" ({} of {} sizes)", there, sizes) : "";
  return fmt::format("{}{}: {}", row.status, of_sizes, row.reason);
}

std::string unit_of(const RankResult& result, const RankOptions& options) {
  if (result.plan->has_clock) return fmt::format("{} times", result.figures);
  return result.figures == "counted" ? "counted cycles of one multiprocessor"
                                     : fmt::format("times predicted for {} from counters", options.gpu);
}

/// The answer: who is first, and how many have a rank, in one line.
std::string verdict_text(const RankResult& result) {
  std::vector<std::string> first;
  std::map<std::string, int> others;
  int ranked = 0;
  for (const RankRow& row : result.rows) {
    if (row.entry->role != RankRole::submission) continue;
    if (row.rank) {
      ++ranked;
      if (*row.rank == 1) first.push_back(row.entry->name);
    } else {
      ++others[fmt::format("{}", row.status)];
    }
  }
  std::string text = first.empty()               ? "nobody is first"
                     : first.size() > kMostNamed ? fmt::format("{} share the first rank", first.size())
                                                 : fmt::format("first: {}", fmt::join(first, ", "));
  text += fmt::format("; {} ranked", ranked);
  for (const auto& [status, count] : others)
    text += fmt::format(", {} {}", count, status == "ok" ? "without a rank" : status);
  return text;
}

void add_title(ReportSection& section, const RankPlan& plan, const RankResult& result, const RankOptions& options) {
  std::vector<std::string> sizes;
  for (const LayerWork& one : result.plan->sizes) sizes.push_back(one.layer);
  const std::size_t count = result.plan->submissions.size();
  section.paragraph(verdict_text(result));
  section.paragraph(fmt::format("{}: {} on {}, {}", plan.problem->title(), plural(count, "submission"),
                                result.plan->device,
                                sizes.empty() ? "no size" : fmt::format("{}", fmt::join(sizes, " "))));
  if (result.baseline == nullptr) {
    section.paragraph("nothing is ranked: there is no library, no stage and no submission that is right on every size");
    return;
  }
  const char* const role = result.baseline->role == RankRole::submission ? "the first submission"
                           : result.baseline->role == RankRole::library  ? "the library"
                                                                         : "the ladder's best stage";
  section.paragraph(fmt::format("speed by {}, as a multiple of {} {}: geometric mean over the sizes",
                                unit_of(result, options), role, result.baseline->name));
}

std::string interval_text(const std::optional<LogSpeed>& speed) {
  return speed ? fmt::format("{} to {}", ratio_text(speed->low), ratio_text(speed->high)) : "-";
}

void add_table(ReportSection& section, const RankResult& result) {
  const char* const than = result.baseline == nullptr                      ? "x"
                           : result.baseline->role == RankRole::submission ? "x first"
                           : result.baseline->role == RankRole::library    ? "x library"
                                                                           : "x best stage";
  const bool measured = result.figures == "measured";
  std::vector<TextColumn> columns{
      right("rank"), left("name"), right(than), right(measured ? "95 % interval" : "range"), left(""), left("status")};
  ShortNames names;
  std::vector<std::vector<std::string>> rows;
  for (const RankRow& row : result.rows) {
    const bool is_line = row.is_baseline && row.entry->role != RankRole::submission;
    rows.push_back({rank_text(row), names.of(row.entry->name), row.speed ? ratio_text(row.speed->estimate) : "-",
                    row.is_baseline ? "-" : interval_text(row.speed), row.speed ? result.figures : "-",
                    is_line || row.status != Status::ok || !row.same_as.empty()
                        ? status_text(row, result.plan->sizes.size())
                    : row.is_baseline ? "ok: the baseline"
                                      : "ok"});
  }
  section.table(std::move(columns), std::move(rows));
}

/// The figures of each size, several sizes to a table.
void add_medians(Report& report, const RankResult& result) {
  const std::vector<LayerWork>& sizes = result.plan->sizes;
  for (std::size_t first = 0; first < sizes.size(); first += kSizesInATable) {
    const std::size_t end = std::min(first + kSizesInATable, sizes.size());
    std::vector<TextColumn> columns{right("rank"), left("name")};
    for (std::size_t i = first; i < end; ++i) columns.push_back({sizes[i].layer, result.figures, true});
    ShortNames names;
    std::vector<std::vector<std::string>> rows;
    for (const RankRow& row : result.rows) {
      std::vector<std::string> cells{rank_text(row), names.of(row.entry->name)};
      for (std::size_t i = first; i < end; ++i) {
        cells.push_back(i < row.sizes.size() ? figure_text(row.sizes[i].figure, result.figures) : "-");
      }
      rows.push_back(std::move(cells));
    }
    report.section().table(std::move(columns), std::move(rows));
  }
}

std::string left_alone_text(const RankPlan& plan) {
  std::vector<std::string> named(
      plan.left_alone.begin(),
      plan.left_alone.begin() + static_cast<std::ptrdiff_t>(std::min(plan.left_alone.size(), kMostNamed)));
  const std::string more = plan.left_alone.size() > kMostNamed ? ", …" : "";
  return fmt::format("left alone, neither .cpp, .cu nor a folder: {}{}", fmt::join(named, ", "), more);
}

/// A text that no spreadsheet evaluates.
std::string no_formula(const std::string& text) {
  const bool is_formula = !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
  return is_formula ? "'" + text : text;
}

std::string csv_number(const std::optional<double>& value) { return value ? fmt::format("{:.9g}", *value) : ""; }

std::optional<double> ratio_of(const std::optional<LogSpeed>& speed, double LogSpeed::*which) {
  return speed ? std::optional(std::exp((*speed).*which)) : std::nullopt;
}

}  // namespace

Report ranking_report(const RankPlan& plan, const std::vector<RankResult>& results, const RankOptions& options,
                      bool medians) {
  Report report;
  report.section();
  for (const RankResult& result : results) {
    add_title(report.section(), plan, result, options);
    add_table(report.section(), result);
    if (std::ranges::any_of(result.rows, &RankRow::shares_rank)) {
      report.sections.back().paragraph(fmt::format(
          "=: a rank is shared by those of whom nobody is surely faster by more than {:g} %", options.tau * 100));
    }
    if (medians && result.baseline != nullptr) add_medians(report, result);
  }
  if (!plan.left_alone.empty()) report.sections.back().paragraph(left_alone_text(plan));
  return report;
}

ReportTable ranking_table(const std::vector<RankResult>& results) {
  ReportTable table;
  std::vector<std::string> sizes;
  for (const RankResult& result : results) {
    for (const LayerWork& one : result.plan->sizes) {
      if (std::ranges::find(sizes, one.layer) == sizes.end()) sizes.push_back(one.layer);
    }
  }
  for (const char* const title : {"family", "device", "figures", "baseline", "rank", "shared", "name", "role", "speed",
                                  "low", "high", "status", "reason", "file", "same_as"}) {
    table.columns.push_back(left(title));
  }
  for (const std::string& size : sizes) {
    for (const char* const what : {" figure", " speed"}) table.columns.push_back(left(no_formula(size) + what));
  }
  for (const RankResult& result : results) {
    for (const RankRow& row : result.rows) {
      std::vector<std::string>& cells = table.rows.emplace_back(std::vector<std::string>{
          result.plan->family, result.plan->device, result.figures,
          no_formula(result.baseline == nullptr ? "" : result.baseline->name),
          row.rank ? fmt::to_string(*row.rank) : "", row.shares_rank ? "yes" : "no", no_formula(row.entry->name),
          std::string(role_name(row.entry->role)), csv_number(ratio_of(row.speed, &LogSpeed::estimate)),
          csv_number(ratio_of(row.speed, &LogSpeed::low)), csv_number(ratio_of(row.speed, &LogSpeed::high)),
          fmt::format("{}", row.status), no_formula(row.reason), no_formula(row.entry->file), no_formula(row.same_as)});
      for (const std::string& size : sizes) {
        const auto found = std::ranges::find(result.plan->sizes, size, &LayerWork::layer);
        const auto at = static_cast<std::size_t>(found - result.plan->sizes.begin());
        const RankedSize one = at < row.sizes.size() ? row.sizes[at] : RankedSize();
        cells.push_back(csv_number(one.figure));
        cells.push_back(csv_number(ratio_of(one.speed, &LogSpeed::estimate)));
      }
    }
  }
  return table;
}

}  // namespace convladder
