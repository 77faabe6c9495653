#include "harness/measure/runs/leave_one_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "harness/measure/isolation/status.hpp"
#include "harness/measure/records/time_ratio.hpp"
#include "harness/measure/statistics/ratio_text.hpp"
#include "support/reasons.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr double kFlopPerMultiplyAdd = 2;
constexpr double kLanesOfWarp = 32;

/// The sum of the counters over `divisor`; none unless all of them are there.
std::optional<double> counters_over(const CounterValues& counters, std::initializer_list<const char*> names,
                                    double divisor) {
  return ratio(sum_of(counters, {names.begin(), names.size()}), divisor);
}

const PredictedFigure* prediction_of(const LeftOutRow& row) { return row.predicted ? &*row.predicted : nullptr; }

LeftOutRow left_out_row(const RecordedCase& one_case) {
  const double multiply_adds = one_case.flop / kFlopPerMultiplyAdd;
  const double of_warps = multiply_adds / kLanesOfWarp;
  const CaseCounters counted = one_case.counters.value_or(CaseCounters());
  LeftOutRow row{
      .of = &one_case,
      .instructions = counters_over(counted.totals, {"smsp__thread_inst_executed_pred_on.sum"}, multiply_adds),
      .shared_wavefronts = counters_over(counted.totals,
                                         {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                          "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
                                         of_warps),
      .load_sectors = counters_over(counted.totals, {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}, of_warps),
      .dram_over_minimum =
          counters_over(counted.modelled, {"dram__bytes_read.sum", "dram__bytes_write.sum"}, one_case.minimum_bytes),
      .predicted = {},
      .x_instructions = {},
      .x_predicted = {},
      .x_time = {}};
  const auto found = std::ranges::find(one_case.predictions, kUsualGpu, &PredictedFigure::gpu);
  if (found != one_case.predictions.end() && found->runs()) row.predicted = *found;
  return row;
}

/// A variant's case in the place of another case; null if it is not in the record.
const RecordedCase* case_beside(const std::vector<RecordedCase>& cases, const RecordedCase& other,
                                const std::string& variant) {
  const auto found = std::ranges::find_if(
      cases, [&](const RecordedCase& one) { return one.variant == variant && one.place() == other.place(); });
  return found == cases.end() ? nullptr : &*found;
}

/// The view that the case belongs to, of all variants that build on `best` and leave an idea out.
LeaveOneOut view_of(const std::vector<RecordedCase>& cases, const std::vector<RecordedVariant>& variants,
                    const RecordedCase& first, const std::string& best) {
  LeaveOneOut view{.best = best, .rows = {}};
  const auto add = [&](const std::string& variant) {
    const RecordedCase* const one = case_beside(cases, first, variant);
    if (one == nullptr) return;
    view.counted = view.counted || one->counters.has_value();
    view.rows.push_back(left_out_row(*one));
  };
  add(best);
  for (const RecordedVariant& variant : variants) {
    if (variant.family == first.family && variant.leaves_out && variant.builds_on == best) add(variant.name);
  }
  const LeftOutRow& with = view.rows.front();
  for (LeftOutRow& row : view.rows) {
    row.x_instructions = ratio_by_counts(row.instructions, with.instructions);
    row.x_predicted = predicted_ratio(prediction_of(row), prediction_of(with));
    row.x_time = layer_ratio(*row.of, *with.of);
  }
  return view;
}

std::string figure_text(const std::optional<double>& value, int digits = 3) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::string span_text(const std::optional<double>& low, const std::optional<double>& high) {
  return low && high ? fmt::format("{} – {}", time_text(*low), time_text(*high)) : "-";
}

std::string idea_title(const LeftOutRow& row, const LeaveOneOut& view) {
  return row.of->leaves_out.empty() ? fmt::format("nothing ({})", view.best) : row.of->leaves_out;
}

std::string place_text(const LeaveOneOut& view) {
  const RecordedCase& first = *view.rows.front().of;
  return fmt::format("{}.{}, batch {}, {}: {} without one idea at a time", first.network, first.layer, first.batch,
                     first.device, view.best);
}

bool has_figures(const LeftOutRow& row) { return row.of->status == Status::ok; }

/// Why the other rows have no figures, each reason once. Where all have the same reason there is nothing else to say.
std::vector<std::string> reasons_of(const LeaveOneOut& view) {
  Reasons reasons;
  for (const LeftOutRow& row : view.rows) {
    if (!has_figures(row)) reasons.add(fmt::format("{}: {}", row.of->status, row.of->reason), idea_title(row, view));
  }
  std::vector<std::string> lines = reasons.lines(view.rows.size());  // every idea is named
  const RecordedCase& first = *view.rows.front().of;
  if (lines.size() == 1 && std::ranges::none_of(view.rows, has_figures)) {
    lines = {fmt::format("{}: {}", first.status, first.reason)};
  }
  return lines;
}

/// The price of leaving out an idea; the highest is shown first.
double price_of(const LeftOutRow& row, bool counted) {
  const std::optional<Ratio>& x = !counted ? row.x_time : row.x_predicted ? row.x_predicted : row.x_instructions;
  return x ? x->value : 0;
}

std::vector<std::string> cells_of(const LeftOutRow& row, const LeaveOneOut& view) {
  if (!view.counted) {
    const TimeFigure* const time = row.of->layer_time();
    return {idea_title(row, view), time != nullptr ? time_text(time->median) : "-",
            time != nullptr ? span_text(time->low, time->high) : "-", ratio_text(row.x_time),
            ratio_interval_text(row.x_time)};
  }
  return {idea_title(row, view),
          figure_text(row.instructions),
          ratio_text(row.x_instructions),
          figure_text(row.shared_wavefronts),
          figure_text(row.load_sectors),
          figure_text(row.dram_over_minimum, 2),
          row.predicted ? span_text(row.predicted->low_ns, row.predicted->high_ns) : "-",
          ratio_text(row.x_predicted)};
}

void add_view(Report& report, const LeaveOneOut& view) {
  report.section(place_text(view));
  const auto add_reasons = [&] {
    for (const std::string& reason : reasons_of(view)) report.sections.back().paragraph(reason);
  };
  if (std::ranges::none_of(view.rows, has_figures)) return add_reasons();
  std::vector<TextColumn> columns = {left("left out")};
  if (view.counted) {
    columns.insert(columns.end(),
                   {right("instructions", "per madd"), right("x"), right("shared", "wavefr/32"),
                    right("loads", "sectors/32"), right("DRAM", "x least"), right("predicted", kUsualGpu), right("x")});
  } else {
    columns.insert(columns.end(), {right("time", "median"), right("interval"), right("x"), right("x, interval")});
  }
  std::vector<LeftOutRow> order = view.rows;
  std::stable_sort(order.begin() + 1, order.end(), [&view](const LeftOutRow& a, const LeftOutRow& b) {
    return price_of(a, view.counted) > price_of(b, view.counted);
  });
  std::vector<std::vector<std::string>> rows;
  for (const LeftOutRow& row : order) {
    if (has_figures(row)) rows.push_back(cells_of(row, view));
  }
  report.sections.back().table(std::move(columns), std::move(rows));
  report.section();
  add_reasons();
  report.section().paragraph(
      view.counted
          ? "COUNTED in PTX per multiply-add of the layer, DRAM modelled, times PREDICTED from these counts: "
            "never measured. x: the figure without the idea divided by the "
            "figure with all ideas; for predictions, by their geometric middles. ~1: it cannot be told from 1."
          : "MEASURED side by side in one run. x: the layer time without the idea divided by that with all ideas; ~1: "
            "it cannot be told from 1.");
}

}  // namespace

std::vector<LeaveOneOut> leave_one_out_of(const std::vector<RecordedCase>& cases,
                                          const std::vector<RecordedVariant>& variants) {
  std::vector<LeaveOneOut> views;
  std::set<std::pair<std::string, decltype(cases.front().place())>> seen;
  for (const RecordedCase& one_case : cases) {
    if (one_case.leaves_out.empty()) continue;
    const auto description = std::ranges::find_if(variants, [&](const RecordedVariant& variant) {
      return variant.family == one_case.family && variant.name == one_case.variant;
    });
    if (description == variants.end()) continue;
    const std::string& best = description->builds_on;
    // Without the stage itself there is nothing to compare with.
    if (case_beside(cases, one_case, best) == nullptr || !seen.emplace(best, one_case.place()).second) continue;
    views.push_back(view_of(cases, variants, one_case, best));
  }
  return views;
}

Report leave_one_out_report(const std::vector<LeaveOneOut>& views) {
  Report report;
  for (const LeaveOneOut& view : views) add_view(report, view);
  return report;
}

}  // namespace convladder
