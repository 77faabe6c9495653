#include "harness/judge/gate/baseline_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "simulator/counters/metrics.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostCounters = 8;  // per case in the text, counted and modelled each; JSON and Markdown have all

/// Our title for the profiler's name: "global load sectors". An unknown counter can have any name: it is cut short.
std::string title_of(const std::string& counter) {
  std::string title = simulated::metric_title(counter);
  if (!title.empty()) return title;
  return printable(counter, 28);
}

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
    rows.push_back({title_of(move.counter), number_text(move.recorded), number_text(move.now), change_text(move),
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

ordered_json finite(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? ordered_json(*value) : ordered_json();
}

ordered_json case_json(const ComparedCounters& one) {
  ordered_json moves = ordered_json::array();
  for (const CounterMove& move : one.moves) {
    moves.push_back({{"kernel", move.kernel},
                     {"counter", move.counter},
                     {"title", title_of(move.counter)},
                     {"kind", move.modelled ? "modelled" : "counted"},
                     {"recorded", finite(move.recorded)},
                     {"now", finite(move.now)},
                     {"change", finite(move.change())}});
  }
  return {{"id", one.id},
          {"ptx_compiler", one.compiler},
          {"compiler_version", one.version},
          {"verdict", verdict_name(one.verdict)},
          {"ptx_changed", one.ptx_changed},
          {"reason", text_or_null(one.reason)},
          {"moves", std::move(moves)}};
}

/// Adds one table of all counted or of all modelled moves.
void add_all_moves(Report& report, const BaselineReport& compared, bool modelled) {
  std::vector<std::vector<std::string>> rows;
  for (const ComparedCounters& one : compared.cases) {
    for (const CounterMove& move : one.moves) {
      if (move.modelled != modelled) continue;
      rows.push_back({one.id, fmt::format("{} {}", one.compiler, one.version), ptx_text(one), move.kernel,
                      title_of(move.counter), number_text(move.recorded), number_text(move.now), change_text(move)});
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

std::string baseline_report_json(const BaselineReport& report) {
  ordered_json summary = ordered_json::object();
  for (int index = 0; index <= static_cast<int>(BaselineVerdict::same); ++index) {
    const auto verdict = static_cast<BaselineVerdict>(index);
    summary[std::string(verdict_name(verdict))] = report.count(verdict);
  }
  ordered_json cases = ordered_json::array();
  for (const ComparedCounters& one : report.cases) cases.push_back(case_json(one));
  const ordered_json json = {{"kind", "counter baseline comparison"},
                             {"exit_code", report.exit_code()},
                             {"summary", std::move(summary)},
                             {"notes", report.notes},
                             {"cases", std::move(cases)}};
  return json_text(json);
}

}  // namespace convladder
