#include "harness/measure/runs/ladder_summary.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "simulator/gpus/gpu_facts.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

using Stages = std::vector<const RecordedCase*>;
/// The time by which stages are compared, in nanoseconds.
using TimeOf = std::function<std::optional<double>(const RecordedCase&)>;

/// The last of stages 1 to 6; 0: the problem has no such stages.
int introduction_rungs(const RecordedCase& one) { return one.size ? one.size->problem->introduction_rungs() : 0; }

const RecordedCase* lowest_rung(const Stages& stages) {
  const auto found = std::ranges::find_if(stages, [](const RecordedCase* one) { return one->rung.has_value(); });
  return found == stages.end() ? nullptr : *found;
}

const RecordedCase* at_rung(const Stages& stages, int rung) {
  const auto found = std::ranges::find_if(stages, [rung](const RecordedCase* one) { return one->rung == rung; });
  return found == stages.end() || rung == 0 ? nullptr : *found;
}

/// The fastest of the stages that `counts` accepts; null if none has a time.
const RecordedCase* fastest(const Stages& stages, const TimeOf& time_of,
                            const std::function<bool(const RecordedCase&)>& counts) {
  const RecordedCase* found = nullptr;
  for (const RecordedCase* one : stages) {
    const std::optional<double> time = time_of(*one);
    if (time && counts(*one) && (found == nullptr || *time < *time_of(*found))) found = one;
  }
  return found;
}

std::optional<double> x_of(const RecordedCase* one, const RecordedCase* other, const TimeOf& time_of,
                           double scale = 1) {
  return one == nullptr || other == nullptr ? std::nullopt : ratio(time_of(*other), time_of(*one), scale);
}

/// The roles of the stages, and their ratios.
LadderSummary roles_of(const Stages& stages, const TimeOf& time_of) {
  const auto only_timed = [&](const RecordedCase* one) { return one != nullptr && time_of(*one) ? one : nullptr; };
  LadderSummary summary;
  summary.baseline = only_timed(lowest_rung(stages));
  summary.sixth = only_timed(at_rung(stages, introduction_rungs(*stages.front())));
  const RecordedCase* const first = lowest_rung(stages);
  if (first == nullptr) return summary;
  summary.best =
      fastest(stages, time_of, [&](const RecordedCase& one) { return one.rung && one.tolerance <= first->tolerance; });
  if (summary.best == nullptr) return summary;
  const double best_time = *time_of(*summary.best);
  summary.library = fastest(stages, time_of, [&](const RecordedCase& one) {
    return one.library() && one.tolerance <= summary.best->tolerance;
  });
  for (const RecordedCase* one : stages) {
    if (one->rung && one->tolerance > first->tolerance && time_of(*one) < best_time && time_of(*one)) {
      summary.faster_less_accurate.push_back(one->variant);
    }
  }
  summary.sixth_x_baseline = x_of(summary.sixth, summary.baseline, time_of);
  summary.best_x_baseline = x_of(summary.best, summary.baseline, time_of);
  summary.best_x_sixth = x_of(summary.best, summary.sixth, time_of);
  summary.best_percent_of_library = x_of(summary.best, summary.library, time_of, 100);
  return summary;
}

std::optional<double> predicted_middle(const RecordedCase& one) {
  const auto found = std::ranges::find(one.predictions, kUsualGpu, &PredictedFigure::gpu);
  return found == one.predictions.end() || !found->runs() ? std::nullopt : std::optional(found->middle_ns());
}

}  // namespace

LadderSummary summary_of(const Ladder& ladder) {
  Stages stages;
  for (const LadderRow& row : ladder.rows) stages.push_back(row.of);
  LadderSummary summary = roles_of(stages, layer_median);
  if (summary.best == nullptr) return summary;
  summary.best_by = kind_of(ladder);
  for (const LadderRow& row : ladder.rows) {
    if (row.of == summary.best) summary.best_percent_of_floor = row.percent_of_floor;
    if (!row.of->rung) continue;
    const bool may_be_best = row.of != summary.best && row.of->tolerance <= summary.best->tolerance;
    if (may_be_best && intervals_overlap(*row.of, *summary.best) == true)
      summary.overlaps_best.push_back(row.of->variant);
    const auto below =
        std::ranges::find(ladder.rows, row.builds_on, [](const LadderRow& one) { return one.of->variant; });
    if (below == ladder.rows.end() || row.x_previous.value_or(1) >= 1) continue;
    if (intervals_overlap(*row.of, *below->of) == false) {
      summary.loses.push_back({row.of->variant, row.builds_on, *row.x_previous});
    }
  }
  return summary;
}

std::vector<CountedLadder> counted_ladders_of(const std::vector<RecordedCase>& cases,
                                              const std::vector<RecordedVariant>& variants) {
  std::vector<CountedLadder> ladders;
  std::map<decltype(cases.front().place()), std::size_t> numbers;
  for (const RecordedVariant& variant : variants) {  // in ladder order
    for (const RecordedCase& one : cases) {
      if (!one.counters || !one.leaves_out.empty()) continue;
      if (one.family != variant.family || one.variant != variant.name) continue;
      const auto [place, is_new] = numbers.emplace(one.place(), ladders.size());
      if (is_new) ladders.emplace_back();
      ladders[place->second].cases.push_back(&one);
      ladders[place->second].below[one.variant] = variant.builds_on;
    }
  }
  for (const RecordedCase& one : cases) {
    const auto place = numbers.find(one.place());
    if (one.failed() && one.leaves_out.empty() && place != numbers.end()) ladders[place->second].failed.push_back(&one);
  }
  for (CountedLadder& ladder : ladders) {
    ladder.summary = roles_of(ladder.cases, predicted_middle);
    if (ladder.summary.best == nullptr) continue;
    ladder.summary.best_by = "predicted";
    ladder.summary.gpu = kUsualGpu;
  }
  return ladders;
}

}  // namespace convladder
