#include "harness/measure/runs/ladder_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/gpus/gpu_facts.hpp"
#include "support/units.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

std::string figure_or_dash(const std::optional<double>& value, int digits, std::string_view unit = "") {
  return value ? fmt::format("{:.{}f}{}", *value, digits, unit) : "-";
}

std::string_view sign_of(const LadderRow& row) { return row.of->quality ? quality_sign(row.of->quality->mark) : ""; }

/// The row's time or status. Times of a machine that was busy carry a sign, the others a blank in its place where the
/// table has one.
std::string time_or_status(const LadderRow& row, bool any_signs) {
  const std::string text = row.of->time ? time_text(row.of->time->median) : std::string(status_name(row.of->status));
  return any_signs ? fmt::format("{} {:1}", text, sign_of(row)) : text;
}

/// The name of the time. A size of a problem is no layer: its timed work is the call.
std::string time_name(const RecordedCase& one) {
  const bool is_layer = !one.size || one.size->problem->name() != one.network;
  return is_layer || one.time->of != "layer" ? one.time->of : "call";
}

std::vector<std::string> cells_of(const LadderRow& row, bool any_signs) {
  return {row.of->rung ? fmt::format("{:>2} {}", *row.of->rung, row.title) : row.title,
          time_or_status(row, any_signs),
          row.of->time ? time_name(*row.of) : "",
          figure_or_dash(row.gflop_per_s, 1),
          figure_or_dash(row.x_previous, 2),
          figure_or_dash(row.x_baseline, 2),
          figure_or_dash(row.percent_of_library, 0, "%"),
          figure_or_dash(row.percent_of_library_op, 0, "%"),
          figure_or_dash(row.percent_of_floor, 0, "%")};
}

std::vector<std::string> counted_cells(const RecordedCase& one, const CountedLadder& ladder) {
  const auto below = std::ranges::find(ladder.cases, ladder.builds_on(one), &RecordedCase::variant);
  const auto predicted = std::ranges::find(one.predictions, kUsualGpu, &PredictedFigure::gpu);
  const bool runs = predicted != one.predictions.end() && predicted->runs();
  const std::optional<double> own = warp_instructions(one);
  return {one.rung ? fmt::format("{:>2} {}", *one.rung, one.variant) : one.variant,
          own ? fmt::format("{:.4g}", *own) : std::string(status_name(one.status)),
          below == ladder.cases.end() ? "-" : figure_or_dash(ratio(warp_instructions(**below), own), 2),
          figure_or_dash(ratio(warp_instructions(*ladder.cases.front()), own), 2),
          runs ? fmt::format("{} to {}", time_text(*predicted->low_ns), time_text(*predicted->high_ns)) : "-"};
}

}  // namespace

void add_ladders(Report& report, const std::vector<Ladder>& ladders) {
  const std::vector<TextColumn> columns = {left("stage"),    right("median"), left("of"),
                                           right("GFLOP/s"), right("x prev"), right("x base"),
                                           right("% lib"),   right("% op"),   right("% floor")};
  for (const Ladder& ladder : ladders) {
    const auto is_timed = [](const LadderRow& row) { return row.of->time.has_value(); };
    if (std::ranges::none_of(ladder.rows, is_timed)) continue;
    const bool any_signs = std::ranges::any_of(ladder.rows, [](const LadderRow& row) { return !sign_of(row).empty(); });
    std::vector<std::vector<std::string>> rows;
    for (const LadderRow& row : ladder.rows) rows.push_back(cells_of(row, any_signs));
    const RecordedCase& first = *ladder.rows.front().of;
    ReportSection& section = report.section(
        fmt::format("{} {}.{}, batch {}, {}", first.device, first.network, first.layer, first.batch, kind_of(ladder)));
    section.table(columns, std::move(rows));
    if (any_signs) {
      section.paragraph(
          "~ noisy, ! disturbed: the machine was not quiet during the measurement; see quality in run.json");
    }
  }
}

void add_counted(Report& report, const std::vector<CountedLadder>& ladders) {
  const std::vector<TextColumn> columns = {left("stage"), right("warp instructions"), right("prev / this"),
                                           right("first / this"), right("predicted")};
  for (const CountedLadder& ladder : ladders) {
    std::vector<const RecordedCase*> cases = ladder.cases;
    for (const RecordedCase* const one : ladder.failed) {
      const auto above = [one](const RecordedCase* other) { return !other->rung || other->rung > one->rung; };
      cases.insert(one->rung ? std::ranges::find_if(cases, above) : cases.end(), one);
    }
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
