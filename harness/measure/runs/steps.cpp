#include "harness/measure/runs/steps.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/measure/records/time_ratio.hpp"
#include "harness/measure/runs/step_causes.hpp"
#include "harness/measure/runs/step_measured.hpp"
#include "harness/measure/runs/step_words.hpp"
#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {
namespace {

using Place = decltype(std::declval<const RecordedCase&>().place());
using Cases = std::vector<const RecordedCase*>;

bool has_result(const RecordedCase& one) { return one.time || one.counters; }

/// The stage on which the variant builds, as the record says, or where the record lacks the variant, as this program
/// does.
std::string builds_on(const std::string& variant, const RecordedCase& beside,
                      const std::vector<RecordedVariant>& variants) {
  for (const RecordedVariant& one : variants) {
    if (one.family == beside.family && one.name == variant) return one.builds_on;
  }
  if (!beside.size) return {};
  for (const ProblemVariant& one : beside.size->problem->variants()) {
    if (one.info.family == beside.family && one.info.name == variant) return std::string(one.info.builds_on);
  }
  return {};
}

/// How many times fewer multiplications the variant makes than the definition; 1 where this program lacks it.
double saved_by(const RecordedCase& one) {
  if (!one.size) return 1;
  const ProblemVariant* const found = find_variant(*one.size->problem, one.family, one.variant);
  return found == nullptr ? 1 : found->variant->saved_operations(*one.size);
}

class Steps {
 public:
  Steps(const std::vector<RecordedCase>& cases, const std::vector<RecordedVariant>& variants,
        const std::vector<RecordedLadder>& ladders, const std::string& gpu)
      : all_(cases), variants_(variants), ladders_(ladders), gpu_(find_gpu(gpu)) {}

  std::vector<Step> of(const Cases& stages) const {
    std::vector<Step> steps;
    const RecordedLadder* const ladder = find_ladder(ladders_, *stages.front());
    for (const RecordedCase* one : stages) {
      if (has_result(*one)) steps.push_back(step_of(*one, stages, ladder));
    }
    return steps;
  }

 private:
  Step step_of(const RecordedCase& one, const Cases& stages, const RecordedLadder* ladder) const {
    Step step;
    step.rung = *one.rung;
    step.variant = one.variant;
    step.registered = builds_on(one.variant, one, variants_);
    const RecordedCase* const below = below_of(one, stages);
    if (below != nullptr) step.builds_on = below->variant;
    if (one.time) {
      measured(one, below, ladder, step);
    } else {
      counted(one, below, step);
    }
    return step;
  }

  /// The nearest stage below the case along `builds_on` that has a result here.
  const RecordedCase* below_of(const RecordedCase& one, const Cases& stages) const {
    std::set<std::string> seen = {one.variant};  // a record may say anything
    std::string name = builds_on(one.variant, one, variants_);
    while (!name.empty() && seen.insert(name).second) {
      const auto found = std::ranges::find(stages, name, [](const RecordedCase* stage) { return stage->variant; });
      if (found != stages.end() && has_result(**found)) return *found;
      name = builds_on(name, one, variants_);
    }
    return nullptr;
  }

  void measured(const RecordedCase& one, const RecordedCase* below, const RecordedLadder* ladder, Step& step) const {
    step.kind = one.time->is_predicted ? "predicted" : "measured";
    const TimeFigure* const time = one.layer_time();
    if (below != nullptr) {
      step.x = layer_ratio(*below, one);
      if (step.x) step.no_headline = why_no_headline(*step.x, one, *below);
      const RecordedCase* const counters = counted_beside(one);
      const RecordedCase* const counters_below = counted_beside(*below);
      if (counters != nullptr && counters_below != nullptr) {
        CountedRelief relief = counted_relief(stage(*counters), stage(*counters_below), told(step.x), false);
        step.relieved = "Counted: " + behind_colon(relief.sentence);
        step.lines = std::move(relief.lines);
      } else if (step.x) {
        step.relieved = measured_relief(*step.x, step.registered == step.builds_on ? hypothesis(one) : std::string());
      }
    }
    if (time != nullptr && ladder != nullptr && ladder->floor_operations_ns) {
      step.binds = measured_bound(time->median, *ladder->floor_operations_ns, ladder->floor_bytes_ns, saved_by(one));
    }
  }

  void counted(const RecordedCase& one, const RecordedCase* below, Step& step) const {
    const CountedStage own = stage(one);
    step.kind = own.predicted() ? "predicted" : "counted";
    step.binds = predicted_bound(own);
    if (below == nullptr || !below->counters) return;
    const CountedStage lower = stage(*below);
    if (own.predicted() && lower.predicted()) {
      step.x = predicted_ratio(lower.prediction, own.prediction);
    } else {
      step.kind = "counted";
    }
    CountedRelief relief = counted_relief(own, lower, told(step.x), true);
    step.relieved = std::move(relief.sentence);
    step.lines = std::move(relief.lines);
  }

  CountedStage stage(const RecordedCase& one) const {
    CountedStage stage{.counters = &*one.counters,
                       .prediction = nullptr,
                       .gpu = gpu_,
                       .minimum_bytes = one.minimum_bytes,
                       .blocks = one.blocks};
    if (gpu_ == nullptr) return stage;
    const auto found = std::ranges::find(one.predictions, gpu_->name, &PredictedFigure::gpu);
    if (found != one.predictions.end()) stage.prediction = &*found;
    return stage;
  }

  /// The speedup, if it can be told from 1.
  static std::optional<double> told(const std::optional<Ratio>& x) {
    return x && !x->holds(1) ? std::optional(x->value) : std::nullopt;
  }

  /// The counted case of the stage on the same layer and batch; null if there is none.
  const RecordedCase* counted_beside(const RecordedCase& one) const {
    if (one.counters) return &one;
    const auto found = std::ranges::find_if(all_, [&one](const RecordedCase& other) {
      return other.counters && other.variant == one.variant && other.family == one.family &&
             other.network == one.network && other.layer == one.layer && other.batch == one.batch;
    });
    return found == all_.end() ? nullptr : &*found;
  }

  std::string hypothesis(const RecordedCase& one) const {
    for (const RecordedVariant& known : variants_) {
      if (known.family == one.family && known.name == one.variant) return known.hypothesis;
    }
    return {};
  }

  const std::vector<RecordedCase>& all_;
  const std::vector<RecordedVariant>& variants_;
  const std::vector<RecordedLadder>& ladders_;
  const GpuFacts* gpu_;
};

}  // namespace

const RecordedLadder* find_ladder(const std::vector<RecordedLadder>& ladders, const RecordedCase& one_case) {
  const auto found =
      std::ranges::find_if(ladders, [&one_case](const RecordedLadder& one) { return one.place() == one_case.place(); });
  return found == ladders.end() ? nullptr : &*found;
}

std::vector<LadderSteps> steps_of(const std::vector<RecordedCase>& cases, const std::vector<RecordedVariant>& variants,
                                  const std::vector<RecordedLadder>& ladders, const std::string& gpu) {
  std::vector<Cases> by_number;
  std::map<Place, std::size_t> numbers;
  for (const RecordedCase& one : cases) {
    if (!one.rung) continue;  // a library, or a stage without one of its ideas
    const auto [place, is_new] = numbers.emplace(one.place(), by_number.size());
    if (is_new) by_number.emplace_back();
    by_number[place->second].push_back(&one);
  }
  const Steps all(cases, variants, ladders, gpu);
  std::vector<LadderSteps> list;
  for (Cases& stages : by_number) {
    std::ranges::stable_sort(stages, {}, [](const RecordedCase* one) { return *one->rung; });
    LadderSteps steps{.of = stages.front(), .steps = all.of(stages)};
    if (!steps.steps.empty()) list.push_back(std::move(steps));
  }
  return list;
}

}  // namespace convladder
