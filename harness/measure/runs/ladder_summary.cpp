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
const RecordedCase* fastest(const Stages& stages, const Comparing& by,
                            const std::function<bool(const RecordedCase&)>& counts) {
  const RecordedCase* found = nullptr;
  for (const RecordedCase* one : stages) {
    const std::optional<double> time = by.time_of(*one);
    if (time && counts(*one) && (found == nullptr || *time < *by.time_of(*found))) found = one;
  }
  return found;
}

std::optional<Ratio> x_of(const RecordedCase* one, const RecordedCase* other, const Comparing& by, double scale = 1) {
  if (one == nullptr || other == nullptr) return std::nullopt;
  const std::optional<Ratio> x = by.speedup(*other, *one);
  return x ? std::optional(x->times(scale)) : std::nullopt;
}

/// The roles of the stages, and their ratios.
LadderSummary roles_of(const Stages& stages, const Comparing& by) {
  const auto only_timed = [&](const RecordedCase* one) { return one != nullptr && by.time_of(*one) ? one : nullptr; };
  LadderSummary summary;
  summary.baseline = only_timed(lowest_rung(stages));
  summary.sixth = only_timed(at_rung(stages, introduction_rungs(*stages.front())));
  const RecordedCase* const first = lowest_rung(stages);
  if (first == nullptr) return summary;
  summary.best =
      fastest(stages, by, [&](const RecordedCase& one) { return one.rung && one.tolerance <= first->tolerance; });
  if (summary.best == nullptr) return summary;
  summary.library = fastest(
      stages, by, [&](const RecordedCase& one) { return one.library() && one.tolerance <= summary.best->tolerance; });
  for (const RecordedCase* one : stages) {
    if (!one->rung || one == summary.best || !by.time_of(*one)) continue;
    const bool is_less_accurate = one->tolerance > first->tolerance;
    const std::optional<Ratio> over = by.speedup(*one, *summary.best);
    if (is_less_accurate && over->is_below(1)) summary.faster_less_accurate.push_back(one->variant);
    if (!is_less_accurate && over->holds(1)) summary.not_told_from_best.push_back(one->variant);
  }
  summary.sixth_x_baseline = x_of(summary.sixth, summary.baseline, by);
  summary.best_x_baseline = x_of(summary.best, summary.baseline, by);
  summary.best_x_sixth = x_of(summary.best, summary.sixth, by);
  summary.best_percent_of_library = x_of(summary.best, summary.library, by, 100);
  return summary;
}

std::optional<double> layer_median(const RecordedCase& one) {
  const TimeFigure* const time = one.layer_time();
  return time == nullptr ? std::nullopt : std::optional(time->median);
}

std::optional<double> predicted_middle(const RecordedCase& one) {
  const PredictedFigure* const found = one.prediction_for(kUsualGpu);
  return found == nullptr ? std::nullopt : std::optional(found->middle_ns());
}

std::optional<Ratio> predicted_speedup(const RecordedCase& other, const RecordedCase& one) {
  return predicted_ratio(other.prediction_for(kUsualGpu), one.prediction_for(kUsualGpu));
}

}  // namespace

const Comparing kByLayerTimes{layer_median, layer_ratio};
const Comparing kByPredictions{predicted_middle, predicted_speedup};

LadderSummary summary_of(const Ladder& ladder) {
  Stages stages;
  for (const LadderRow& row : ladder.rows) stages.push_back(row.of);
  LadderSummary summary = roles_of(stages, kByLayerTimes);
  if (summary.best == nullptr) return summary;
  summary.best_by = kind_of(ladder);
  const auto look_at = [&](const std::optional<Ratio>& x, const RecordedCase* other) {
    if (x && summary.no_headline.empty()) summary.no_headline = why_no_headline(*x, *summary.best, *other);
  };
  look_at(summary.best_x_baseline, summary.baseline);
  look_at(summary.best_x_sixth, summary.sixth);
  look_at(summary.best_percent_of_library, summary.library);
  for (const LadderRow& row : ladder.rows) {
    if (row.of == summary.best) summary.best_percent_of_floor = row.percent_of_floor;
    if (row.of->rung && row.x_previous && row.x_previous->is_below(1)) {
      const auto below = std::ranges::find(stages, row.builds_on, &RecordedCase::variant);
      summary.loses.push_back(
          {row.of->variant, row.builds_on, *row.x_previous, why_no_headline(*row.x_previous, *row.of, **below)});
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
    ladder.summary = roles_of(ladder.cases, kByPredictions);
    if (ladder.summary.best == nullptr) continue;
    ladder.summary.best_by = "predicted";
    ladder.summary.gpu = kUsualGpu;
  }
  return ladders;
}

}  // namespace convladder
