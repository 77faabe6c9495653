#include "harness/measure/sweep/sweep_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/measure/statistics/ratio_text.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "support/units.hpp"

namespace convladder {

namespace {

/// A column of counts for each multiply-add that the layer needs.
struct CountedColumn {
  const char* title;
  std::vector<const char*> metrics;
};

/// The columns of counts. Beside a prediction, which says more, there is room for two.
std::vector<CountedColumn> counted_columns(ScoreKind kind) {
  std::vector<CountedColumn> columns = {{"instr.", {"smsp__thread_inst_executed_pred_on.sum"}},
                                        {"wavefr.",
                                         {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                          "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}}};
  if (kind == ScoreKind::counted) {
    columns.push_back(
        {"sectors",
         {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}});
  }
  return columns;
}

/// The count for each multiply-add of a linear problem, or for each operation of another.
std::string counted_for_each(const Sweep& sweep, const SweptConfiguration& one, const CountedColumn& column) {
  if (one.counted.empty()) return "-";
  double sum = 0;
  for (const char* const metric : column.metrics) sum += counter_of(one.counted, metric).value_or(0);
  const ProblemSize& shape = sweep.planned.work.shape;
  const double pieces = shape.problem->is_linear() ? shape.flop() / 2 : shape.flop();
  return pieces > 0 ? fmt::format("{:.3g}", sum / pieces) : "-";
}

std::vector<TextColumn> columns_of(const Sweep& sweep) {
  std::vector<TextColumn> columns = {left("")};
  for (const Parameter& parameter : sweep.found.by_model.parameters()) columns.push_back(right(parameter.name));
  const char* const kind = sweep.kind_text();
  if (sweep.kind == ScoreKind::counted) {
    columns.push_back(right("cycles", kind));
  } else {
    columns.push_back(right("time", kind));
  }
  if (sweep.kind == ScoreKind::measured) columns.push_back(right("±"));
  columns.push_back(right("of *"));
  if (sweep.kind == ScoreKind::measured) {
    columns.push_back(right("GFLOP/s", kind));
    return columns;
  }
  const bool multiplies = sweep.planned.work.shape.problem->is_linear();
  for (const CountedColumn& column : counted_columns(sweep.kind)) {
    columns.push_back({column.title, multiplies ? "/FMA" : "/FLOP", true});
  }
  if (sweep.kind == ScoreKind::predicted) columns.push_back(right("occup."));
  return columns;
}

std::vector<std::string> row_of(const Sweep& sweep, const SweptConfiguration& one) {
  const Score& score = *one.score;
  const SweptConfiguration* const standard = sweep.default_result();
  std::vector<std::string> row = {&one == standard ? "*" : &one == sweep.model_result() ? "m" : ""};
  for (const Parameter& parameter : one.configuration.parameters()) row.push_back(std::to_string(parameter.value));
  row.push_back(sweep.kind == ScoreKind::counted ? fmt::format("{:.4g}", score.value) : time_text(score.value));
  if (sweep.kind == ScoreKind::measured) {
    row.push_back(fmt::format("{:.1f}%", (score.high - score.low) / 2 / score.value * 100));
  }
  row.push_back(standard == nullptr ? "-" : ratio_text(sweep.ratio(one, *standard)));
  if (sweep.kind == ScoreKind::measured) {
    row.push_back(fmt::format("{:.1f}", sweep.planned.work.shape.flop() / score.value));
    return row;
  }
  for (const CountedColumn& column : counted_columns(sweep.kind)) {
    row.push_back(counted_for_each(sweep, one, column));
  }
  if (sweep.kind == ScoreKind::predicted) {
    row.push_back(one.occupancy ? fmt::format("{:.0f}%", *one.occupancy * 100) : "-");
  }
  return row;
}

std::string title_of(const Sweep& sweep) {
  std::string what = fmt::format("{} times", sweep.kind_text());
  if (sweep.kind == ScoreKind::counted) what = "cycles of one multiprocessor, from what was counted";
  if (sweep.kind == ScoreKind::predicted) {
    what = fmt::format("middles of the predicted op times on {}, from what was counted", find_gpu(sweep.gpu)->title);
  }
  return fmt::format("{}: {}. {} of {} possible configurations were tried{}.", sweep.planned.id, what,
                     sweep.results.size(), sweep.found.possible,
                     static_cast<long>(sweep.results.size()) >= sweep.found.possible ? ""
                     : sweep.has_model() ? "; the variant's own model expects the others to be no better"
                                         : "; --limit takes more");
}

std::string conclusion(const Sweep& sweep) {
  const SweptConfiguration* const best = sweep.winner();
  if (best == nullptr) return "no configuration passed verification";
  const SweptConfiguration* const by_model = sweep.model_result();
  const char* const untold = sweep.has_model() ? "the model's choice" : "the first values";
  if (best == by_model) {
    const bool by_chance = sweep.kind == ScoreKind::measured && best != sweep.ranked().front();
    const std::string why = !by_chance ? ""
                            : sweep.finals
                                ? fmt::format(": in {} rounds side by side none was surely faster", Finalist::kRounds)
                                : ": those above cannot be told from it";
    return fmt::format("best: {}, {}{}", untold, best->configuration.text(), why);
  }
  if (by_model == nullptr) return fmt::format("best: {}", best->configuration.text());
  if (!sweep.finals) {
    return fmt::format("best: {}, {} {} of {} ({})", best->configuration.text(), sweep.kind_text(),
                       ratio_text(sweep.ratio(*best, *by_model)), untold,
                       ratio_interval_text(sweep.ratio(*best, *by_model)));
  }
  const auto one = std::ranges::find(*sweep.finals, best->configuration, &Finalist::configuration);
  // Rounded up: it surely takes no more.
  return fmt::format("best: {}, measured at most {:.3f} of {} in {} rounds side by side", best->configuration.text(),
                     std::ceil(std::exp(one->change->high) * 1000 - 1e-6) / 1000, untold, Finalist::kRounds);
}

}  // namespace

std::string score_text(const Sweep& sweep, const SweptConfiguration& one) {
  if (!one.score) return fmt::format("{}: {}", one.status.value(), one.reason);
  if (sweep.kind == ScoreKind::counted) return fmt::format("counted {:.4g} cycles", one.score->value);
  return fmt::format("{} {}{}", sweep.kind_text(), time_text(one.score->value),
                     sweep.gpu.empty() ? "" : fmt::format(" ({})", sweep.gpu));
}

Report sweep_report(const Sweep& sweep) {
  Report report;
  report.section().paragraph(title_of(sweep));
  ReportSection& section = report.section();
  std::vector<std::vector<std::string>> rows;
  for (const SweptConfiguration* const one : sweep.ranked()) rows.push_back(row_of(sweep, *one));
  if (!rows.empty()) {
    section.table(columns_of(sweep), std::move(rows));
    const bool tuned = sweep.found.candidates.front() != sweep.found.by_model;
    section.paragraph(!sweep.has_model() ? "* 'run' uses this one, the first values of its @parameter"
                      : tuned ? "* 'run' uses this one, from the table; m the variant's own model would use this one"
                              : "* 'run' uses this one, chosen by the variant's own model");
  }
  for (const SweptConfiguration& one : sweep.results) {
    if (!one.score && one.status) {
      section.paragraph(fmt::format("not ranked: {}: {}", one.configuration.text(), score_text(sweep, one)));
    }
  }
  section.paragraph(conclusion(sweep));
  return report;
}

}  // namespace convladder
