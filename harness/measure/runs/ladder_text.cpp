#include "harness/measure/runs/ladder_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/measure/statistics/ratio_text.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "support/units.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

std::string figure_or_dash(const std::optional<double>& value, int digits, std::string_view unit = "") {
  return value ? fmt::format("{:.{}f}{}", *value, digits, unit) : "-";
}

std::string_view sign_of(const LadderRow& row) { return row.of->quality ? quality_sign(row.of->quality->mark) : ""; }

/// The row's layer time or status. Times of a machine that was busy carry a sign, the others a blank in its place where
/// the table has one.
std::string time_or_status(const LadderRow& row, bool any_signs) {
  const std::string text = row.time != nullptr ? time_text(row.time->median) : std::string(status_name(row.of->status));
  return any_signs ? fmt::format("{} {:1}", text, sign_of(row)) : text;
}

/// Whether the case is of a layer. A size of a problem is none: its timed work is the call.
bool is_of_layer(const RecordedCase& one) { return !one.size || one.size->problem->name() != one.network; }

std::vector<std::string> cells_of(const LadderRow& row, bool any_signs, bool intervals) {
  const auto factor = [intervals](const std::optional<Ratio>& x) {
    return intervals ? ratio_interval_text(x) : ratio_text(x);
  };
  const auto share = [intervals](const std::optional<Ratio>& percent) {
    return intervals ? ratio_interval_text(percent, "%") : share_text(percent);
  };
  return {row.of->rung ? fmt::format("{:>2} {}", *row.of->rung, row.title) : row.title,
          time_or_status(row, any_signs),
          figure_or_dash(row.gflop_per_s, 1),
          factor(row.x_previous),
          factor(row.x_baseline),
          share(row.percent_of_library),
          share(row.percent_of_floor)};
}

/// The time of the convolution alone of those that work in a layout of their own: a line each.
std::vector<std::string> op_lines(const Ladder& ladder) {
  std::vector<std::string> lines;
  for (const LadderRow& row : ladder.rows) {
    const TimeFigure* const op = row.of->op_time();
    if (op == nullptr || !row.of->library()) continue;
    const std::string interval =
        op->low && op->high ? fmt::format(" ({} to {})", time_text(*op->low), time_text(*op->high)) : "";
    lines.push_back(fmt::format("op time of {}, {}{}: without the changes of layout, compared with no layer time",
                                row.title, time_text(op->median), interval));
  }
  return lines;
}

std::vector<std::string> counted_cells(const RecordedCase& one, const CountedLadder& ladder) {
  const auto below = std::ranges::find(ladder.cases, ladder.builds_on(one), &RecordedCase::variant);
  const PredictedFigure* const predicted = one.prediction_for(kUsualGpu);
  const std::optional<double> own = warp_instructions(one);
  return {one.rung ? fmt::format("{:>2} {}", *one.rung, one.variant) : one.variant,
          own ? fmt::format("{:.4g}", *own) : std::string(status_name(one.status)),
          below == ladder.cases.end() ? "-" : figure_or_dash(ratio(warp_instructions(**below), own), 2),
          figure_or_dash(ratio(warp_instructions(*ladder.cases.front()), own), 2),
          predicted != nullptr ? fmt::format("{} to {}", time_text(*predicted->low_ns), time_text(*predicted->high_ns))
                               : "-"};
}

}  // namespace

void add_ladders(Report& report, const std::vector<Ladder>& ladders, bool intervals) {
  const std::vector<TextColumn> columns = {left("stage"),   right("median"), right("GFLOP/s"), right("x prev"),
                                           right("x base"), right("% lib"),  right("% floor")};
  for (const Ladder& ladder : ladders) {
    const auto is_timed = [](const LadderRow& row) { return row.time != nullptr; };
    if (std::ranges::none_of(ladder.rows, is_timed)) continue;
    const bool any_signs = std::ranges::any_of(ladder.rows, [](const LadderRow& row) { return !sign_of(row).empty(); });
    std::vector<std::vector<std::string>> rows;
    for (const LadderRow& row : ladder.rows) rows.push_back(cells_of(row, any_signs, intervals));
    const RecordedCase& first = *ladder.rows.front().of;
    ReportSection& section = report.section(fmt::format(
        "{} {}.{}, batch {}, {} {}{}", first.device, first.network, first.layer, first.batch, kind_of(ladder),
        is_of_layer(first) ? "layer times" : "times of a call", intervals ? ", ratios as intervals" : ""));
    const std::string legend = ratio_legend(rows);
    section.table(columns, std::move(rows));
    for (std::string& line : op_lines(ladder)) section.paragraph(std::move(line));
    if (!legend.empty()) section.paragraph(legend);
    if (any_signs) {
      section.paragraph(
          "~ noisy, ! disturbed: the machine was not quiet during the measurement; see quality in run.json");
    }
  }
}

void add_counted(Report& report, const std::vector<CountedLadder>& ladders, const ArrangeCases& arrange) {
  const std::vector<TextColumn> columns = {left("stage"), right("warp instructions"), right("prev / this"),
                                           right("first / this"), right("predicted")};
  for (const CountedLadder& ladder : ladders) {
    std::vector<const RecordedCase*> cases = ladder.cases;
    for (const RecordedCase* const one : ladder.failed) {
      const auto above = [one](const RecordedCase* other) { return !other->rung || other->rung > one->rung; };
      cases.insert(one->rung ? std::ranges::find_if(cases, above) : cases.end(), one);
    }
    if (arrange) arrange(cases);
    std::vector<std::vector<std::string>> rows;
    for (const RecordedCase* one : cases) rows.push_back(counted_cells(*one, ladder));
    const RecordedCase& first = *ladder.cases.front();
    const GpuFacts& gpu = *find_gpu(kUsualGpu);
    report
        .section(fmt::format("{} {}.{}, batch {}, counted; times predicted for an {}", first.device, first.network,
                             first.layer, first.batch, gpu.title))
        .table(columns, std::move(rows));
  }
}

}  // namespace convladder
