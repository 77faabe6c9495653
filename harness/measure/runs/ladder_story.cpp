#include "harness/measure/runs/ladder_story.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "simulator/gpus/gpu_facts.hpp"
#include "support/json_null.hpp"
#include "variants/problem.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

using Stages = std::vector<const CaseFigures*>;
/// The time by which stages are compared, in nanoseconds.
using TimeOf = std::function<std::optional<double>(const CaseFigures&)>;

/// The last of stages 1 to 6; 0: the problem has no such stages.
int story_rungs(const CaseFigures& one) { return one.size ? one.size->problem->story_rungs() : 0; }

const CaseFigures* lowest_rung(const Stages& stages) {
  const auto found = std::ranges::find_if(stages, [](const CaseFigures* one) { return one->rung.has_value(); });
  return found == stages.end() ? nullptr : *found;
}

const CaseFigures* at_rung(const Stages& stages, int rung) {
  const auto found = std::ranges::find_if(stages, [rung](const CaseFigures* one) { return one->rung == rung; });
  return found == stages.end() || rung == 0 ? nullptr : *found;
}

/// The fastest of the stages that `counts` accepts; null if none has a time.
const CaseFigures* fastest(const Stages& stages, const TimeOf& time_of,
                           const std::function<bool(const CaseFigures&)>& counts) {
  const CaseFigures* found = nullptr;
  for (const CaseFigures* one : stages) {
    const std::optional<double> time = time_of(*one);
    if (time && counts(*one) && (found == nullptr || *time < *time_of(*found))) found = one;
  }
  return found;
}

std::optional<double> x_of(const CaseFigures* one, const CaseFigures* other, const TimeOf& time_of, double scale = 1) {
  return one == nullptr || other == nullptr ? std::nullopt : ratio(time_of(*other), time_of(*one), scale);
}

/// The roles of the stages, and their ratios.
LadderStory roles_of(const Stages& stages, const TimeOf& time_of) {
  const auto only_timed = [&](const CaseFigures* one) { return one != nullptr && time_of(*one) ? one : nullptr; };
  LadderStory story;
  story.baseline = only_timed(lowest_rung(stages));
  story.mission = only_timed(at_rung(stages, story_rungs(*stages.front())));
  const CaseFigures* const first = lowest_rung(stages);
  if (first == nullptr) return story;
  story.best =
      fastest(stages, time_of, [&](const CaseFigures& one) { return one.rung && one.tolerance <= first->tolerance; });
  if (story.best == nullptr) return story;
  const double best_time = *time_of(*story.best);
  story.library = fastest(
      stages, time_of, [&](const CaseFigures& one) { return one.library() && one.tolerance <= story.best->tolerance; });
  for (const CaseFigures* one : stages) {
    if (one->rung && one->tolerance > first->tolerance && time_of(*one) < best_time && time_of(*one)) {
      story.faster_less_accurate.push_back(one->variant);
    }
  }
  story.mission_x_baseline = x_of(story.mission, story.baseline, time_of);
  story.best_x_baseline = x_of(story.best, story.baseline, time_of);
  story.best_x_mission = x_of(story.best, story.mission, time_of);
  story.best_percent_of_library = x_of(story.best, story.library, time_of, 100);
  return story;
}

std::optional<double> predicted_middle(const CaseFigures& one) {
  const auto found = std::ranges::find(one.predictions, kUsualGpu, &PredictedFigure::gpu);
  return found == one.predictions.end() || !found->runs() ? std::nullopt : std::optional(found->middle_ns());
}

ordered_json name_or_null(const CaseFigures* one) {
  return one == nullptr ? ordered_json() : ordered_json(one->variant);
}

}  // namespace

LadderStory story_of(const Ladder& ladder) {
  Stages stages;
  for (const LadderRow& row : ladder.rows) stages.push_back(row.of);
  LadderStory story = roles_of(stages, layer_median);
  if (story.best == nullptr) return story;
  story.best_by = kind_of(ladder);
  for (const LadderRow& row : ladder.rows) {
    if (row.of == story.best) story.best_percent_of_floor = row.percent_of_floor;
    if (!row.of->rung) continue;
    const bool may_be_best = row.of != story.best && row.of->tolerance <= story.best->tolerance;
    if (may_be_best && intervals_overlap(*row.of, *story.best) == true) story.overlaps_best.push_back(row.of->variant);
    const auto below =
        std::ranges::find(ladder.rows, row.builds_on, [](const LadderRow& one) { return one.of->variant; });
    if (below == ladder.rows.end() || row.x_previous.value_or(1) >= 1) continue;
    if (intervals_overlap(*row.of, *below->of) == false) {
      story.loses.push_back({row.of->variant, row.builds_on, *row.x_previous});
    }
  }
  return story;
}

std::vector<CountedLadder> counted_ladders_of(const std::vector<CaseFigures>& cases,
                                              const std::vector<VariantFigures>& variants) {
  std::vector<CountedLadder> ladders;
  std::map<decltype(cases.front().place()), std::size_t> numbers;
  for (const VariantFigures& variant : variants) {  // in ladder order
    for (const CaseFigures& one : cases) {
      if (!one.counters || !one.leaves_out.empty()) continue;
      if (one.family != variant.family || one.variant != variant.name) continue;
      const auto [place, is_new] = numbers.emplace(one.place(), ladders.size());
      if (is_new) ladders.emplace_back();
      ladders[place->second].cases.push_back(&one);
      ladders[place->second].below[one.variant] = variant.builds_on;
    }
  }
  for (CountedLadder& ladder : ladders) {
    ladder.story = roles_of(ladder.cases, predicted_middle);
    if (ladder.story.best == nullptr) continue;
    ladder.story.best_by = "predicted";
    ladder.story.gpu = kUsualGpu;
  }
  return ladders;
}

std::optional<double> warp_instructions(const CaseFigures& one) {
  constexpr std::array kInstructions{"smsp__inst_executed.sum"};
  return one.counters ? sum_of(one.counters->totals, kInstructions) : std::nullopt;
}

ordered_json story_json(const LadderStory& story) {
  ordered_json loses = ordered_json::array();
  for (const StageThatLoses& one : story.loses) {
    loses.push_back({{"variant", one.variant}, {"builds_on", one.builds_on}, {"x", one.x}});
  }
  return {{"baseline", name_or_null(story.baseline)},
          {"mission", name_or_null(story.mission)},
          {"best", name_or_null(story.best)},
          {"best_by", text_or_null(story.best_by)},
          {"gpu", text_or_null(story.gpu)},
          {"library", name_or_null(story.library)},
          {"overlaps_best", story.overlaps_best},
          {"faster_less_accurate", story.faster_less_accurate},
          {"mission_x_baseline", or_null(story.mission_x_baseline)},
          {"best_x_baseline", or_null(story.best_x_baseline)},
          {"best_x_mission", or_null(story.best_x_mission)},
          {"best_percent_of_library", or_null(story.best_percent_of_library)},
          {"best_percent_of_floor", or_null(story.best_percent_of_floor)},
          {"loses", std::move(loses)}};
}

ordered_json& recorded_ladder(ordered_json& ladders, const CaseFigures& one) {
  const ordered_json place = place_json(one);
  const auto found = std::ranges::find_if(ladders, [&place](const ordered_json& ladder) {
    return std::ranges::all_of(place.items(), [&](const auto& item) { return ladder.at(item.key()) == item.value(); });
  });
  if (found != ladders.end()) return *found;
  ordered_json& added = ladders.emplace_back(place);
  added["kind"] = "counted";
  added["floor"] = nullptr;
  added["rows"] = ordered_json::array();
  return added;
}

void add_counted_stories(ordered_json& ladders, const std::vector<CountedLadder>& counted) {
  for (const CountedLadder& one : counted) {
    recorded_ladder(ladders, *one.cases.front())["story"] = story_json(one.story);
  }
}

}  // namespace convladder
