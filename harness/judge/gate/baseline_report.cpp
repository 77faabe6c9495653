#include "harness/judge/gate/baseline_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "support/errors.hpp"

namespace convladder {
namespace {

constexpr std::size_t kMostCounters = 8;  // per case in the text, counted and modelled each; JSON and Markdown have all

/// A kernel's name without the namespace of all our kernels, which says nothing in a table: "conv_shared_memory".
std::string without_our_namespace(const std::string& kernel) {
  constexpr std::string_view ours = "convladder::";
  return kernel.starts_with(ours) ? kernel.substr(ours.size()) : kernel;
}

std::string number_text(const std::optional<double>& value) {
  constexpr double exact = 0x1p53;
  if (!value) return "-";
  if (*value == std::floor(*value) && std::abs(*value) < exact) return fmt::format("{:.0f}", *value);
  return fmt::format("{:.6g}", *value);
}

std::string change_text(const CounterMove& move) {
  if (!move.recorded) return "new";
  if (!move.now) return "gone";
  if (!std::isfinite(move.change())) return "from 0";
  return fmt::format("{:+.4g} %", 100 * move.change());
}

double worst_change(const ComparedCounters& one) {
  double worst = 0;
  for (const CounterMove& move : one.moves) worst = std::max(worst, std::abs(move.change()));
  return worst;
}

std::string ptx_text(const ComparedCounters& one) { return one.ptx_changed ? "another PTX" : "the same PTX"; }

/// Adds the rows of counted or of modelled moves, and the number of those left out.
void add_moves(ReportSection& section, const ComparedCounters& one, bool modelled) {
  std::vector<std::vector<std::string>> rows;
  std::size_t left_out = 0;
  for (const CounterMove& move : one.moves) {
    if (move.modelled != modelled) continue;
    if (rows.size() == kMostCounters) {
      ++left_out;
      continue;
    }
    rows.push_back({move.title(), number_text(move.recorded), number_text(move.now), change_text(move),
                    without_our_namespace(move.kernel)});
  }
  if (rows.empty()) return;
  section.table(
      {left(modelled ? "modelled" : "counter"), right("recorded"), right("now"), right("change"), left("kernel")},
      std::move(rows));
  if (left_out > 0) section.paragraph(fmt::format("and {} more: --format json has them", left_out));
}

/// Adds the cases that are not the same; a section ends with the tables of one that moved.
void add_cases(Report& report, const BaselineReport& compared) {
  report.section("", Shown::in_text);
  for (const ComparedCounters& one : compared.cases) {
    if (one.verdict == BaselineVerdict::same) continue;
    ReportSection& section = report.sections.back();
    section.paragraph(fmt::format("{} {} {} {}: {}", verdict_name(one.verdict), one.id, one.compiler, one.version,
                                  one.reason.empty() ? ptx_text(one) : one.reason));
    if (one.moves.empty()) continue;
    add_moves(section, one, false);
    add_moves(section, one, true);
    report.section("", Shown::in_text);
  }
}

/// Adds one table of all counted or of all modelled moves.
void add_all_moves(Report& report, const BaselineReport& compared, bool modelled) {
  std::vector<std::vector<std::string>> rows;
  for (const ComparedCounters& one : compared.cases) {
    for (const CounterMove& move : one.moves) {
      if (move.modelled != modelled) continue;
      rows.push_back({one.id, fmt::format("{} {}", one.compiler, one.version), ptx_text(one), move.kernel, move.title(),
                      number_text(move.recorded), number_text(move.now), change_text(move)});
    }
  }
  if (rows.empty()) return;
  report.section(modelled ? "Modelled counters that moved" : "Exact counters that moved", Shown::in_markdown)
      .table({left("case"), left("compiler"), left("PTX"), left("kernel"), left("counter"), right("recorded"),
              right("now"), right("change")},
             std::move(rows));
}

void add_not_compared(Report& report, const BaselineReport& compared) {
  std::vector<std::vector<std::string>> rows;
  for (const ComparedCounters& one : compared.cases) {
    if (one.reason.empty()) continue;
    rows.push_back(
        {std::string(verdict_name(one.verdict)), one.id, fmt::format("{} {}", one.compiler, one.version), one.reason});
  }
  if (rows.empty()) return;
  report.section("Not compared by counters", Shown::in_markdown)
      .table({left("verdict"), left("case"), left("compiler"), left("why")}, std::move(rows));
}

/// "154 cases: 150 same, 4 moved".
std::string summary_line(const BaselineReport& report) {
  std::vector<std::string> parts;
  for (int index = static_cast<int>(BaselineVerdict::same); index >= 0; --index) {
    const auto verdict = static_cast<BaselineVerdict>(index);
    if (const std::size_t count = report.count(verdict); count > 0) {
      parts.push_back(fmt::format("{} {}", count, verdict_name(verdict)));
    }
  }
  return fmt::format("{}: {}", plural(report.cases.size(), "case"), fmt::join(parts, ", "));
}

}  // namespace

std::size_t BaselineReport::count(BaselineVerdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(cases, verdict, &ComparedCounters::verdict));
}

int BaselineReport::exit_code() const {
  if (count(BaselineVerdict::moved) + count(BaselineVerdict::failed) > 0) return kExitCasesFailed;
  return count(BaselineVerdict::same) == cases.size() ? kExitOk : kExitInconclusive;
}

void BaselineReport::sort() {
  std::ranges::stable_sort(cases, [](const ComparedCounters& a, const ComparedCounters& b) {
    return a.verdict != b.verdict ? a.verdict < b.verdict : worst_change(a) > worst_change(b);
  });
}

Report baseline_report(const BaselineReport& compared) {
  Report report{"Counters of the simulated device"};
  const std::string summary = summary_line(compared);
  report.section("", Shown::in_markdown).paragraph(summary + '.');
  add_cases(report, compared);
  ReportSection& end = report.sections.back();
  for (const std::string& note : compared.notes) end.paragraph(note);
  const auto changed = std::ranges::count_if(compared.cases, [](const ComparedCounters& one) {
    return one.verdict == BaselineVerdict::same && one.ptx_changed;
  });
  if (changed > 0) {
    end.paragraph(fmt::format("{} the same from different PTX", plural(static_cast<std::size_t>(changed), "case")));
  }
  end.paragraph(summary);
  add_all_moves(report, compared, false);
  add_all_moves(report, compared, true);
  add_not_compared(report, compared);
  ReportSection& notes = report.section("", Shown::in_markdown);
  for (const std::string& note : compared.notes) notes.paragraph(note);
  return report;
}

}  // namespace convladder
