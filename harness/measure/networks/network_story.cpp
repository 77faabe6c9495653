#include "harness/measure/networks/network_story.hpp"

#include <algorithm>
#include <functional>

#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "variants/accuracy.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

double figure_of(const NetworkResult& result, const StepOutcome& step) {
  if (result.planned.has_clock) return step.samples.empty() ? 0 : median(step.samples);
  return step.counters ? warp_instructions(*step.counters).value_or(0) : 0;
}

/// The rung that computes all convolutions; none for a library, a mixture, or a stage from outside.
std::optional<int> rung_of(const NetworkCase& planned) {
  const auto& convolutions = planned.choice.convolutions;
  if (convolutions.empty() || !planned.choice.fused.empty()) return std::nullopt;
  const Variant* const first = convolutions.begin()->second.variant;
  const auto same = [first](const auto& one) { return one.second.variant == first; };
  return std::ranges::all_of(convolutions, same) ? convolutions.begin()->second.info.rung : std::nullopt;
}

bool in_float32(const NetworkCase& planned) {
  return std::ranges::all_of(planned.choice.convolutions,
                             [](const auto& one) { return one.second.variant->tolerance() <= kFloat32Tolerance; });
}

NetworkRow row_of(const NetworkResult& result) {
  NetworkRow row;
  row.of = &result;
  const NetworkChoice& choice = result.planned.choice;
  row.is_fused = !choice.fused.empty() || choice.whole.has_value();
  row.is_library = choice.whole.has_value() ||
                   (choice.fused.empty() && std::ranges::all_of(choice.convolutions, [](const auto& one) {
                      return one.second.info.is_library() && one.second.variant->compiled_stage() == nullptr;
                    }));
  for (const StepOutcome& step : result.outcome.steps) {
    const double figure = figure_of(result, step);
    row.layers += figure;
    if (step.type == "convolution") row.op += figure;
  }
  if (!result.outcome.totals.empty()) {
    row.pass = median(result.outcome.totals);
    if (*row.pass > 0) row.images_second = result.planned.batch / (*row.pass * 1e-9);
  }
  if (!result.outcome.kept.samples.empty()) {
    row.kept = median(result.outcome.kept.samples);
    if (*row.kept > 0) row.kept_images_second = result.planned.batch / (*row.kept * 1e-9);
  }
  return row;
}

const NetworkRow* fastest(const std::vector<NetworkRow>& rows, const std::function<bool(const NetworkRow&)>& which) {
  const NetworkRow* best = nullptr;
  for (const NetworkRow& row : rows) {
    if (row.op > 0 && which(row) && (best == nullptr || row.op < best->op)) best = &row;
  }
  return best;
}

const NetworkRow* at_rung(const std::vector<NetworkRow>& rows, int rung) {
  return fastest(rows, [rung](const NetworkRow& row) { return rung_of(row.of->planned) == rung; });
}

void compare(NetworkStory& story) {
  story.baseline = at_rung(story.rows, 1);
  story.mission = at_rung(story.rows, convolution_problem().story_rungs());
  story.best = fastest(story.rows, [](const NetworkRow& row) {
    return !row.is_library && !row.is_fused && in_float32(row.of->planned);
  });
  story.library = fastest(
      story.rows, [](const NetworkRow& row) { return row.is_library && !row.is_fused && in_float32(row.of->planned); });
  std::optional<double> library_kept;
  for (const NetworkRow& row : story.rows) {
    if (!row.is_library || !row.kept || !in_float32(row.of->planned)) continue;
    library_kept = std::min(row.kept.value(), library_kept.value_or(*row.kept));
  }
  for (NetworkRow& row : story.rows) {
    if (library_kept && row.kept && *row.kept > 0) row.x_library = *library_kept / *row.kept;
    if (row.is_fused || !(row.op > 0)) continue;
    if (story.baseline != nullptr) row.x_baseline = story.baseline->op / row.op;
    if (story.library != nullptr) row.percent_of_library = story.library->op / row.op * 100;
  }
}

}  // namespace

std::vector<NetworkStory> network_stories(const std::vector<NetworkResult>& results) {
  std::vector<NetworkStory> stories;
  for (const NetworkResult& result : results) {
    if (result.outcome.status != Status::ok) continue;
    const NetworkCase& planned = result.planned;
    auto same = std::ranges::find_if(stories, [&planned](const NetworkStory& story) {
      const NetworkCase& first = story.rows.front().of->planned;
      return first.network == planned.network && first.device == planned.device && first.batch == planned.batch;
    });
    if (same == stories.end()) same = stories.insert(stories.end(), NetworkStory());
    same->rows.push_back(row_of(result));
  }
  for (NetworkStory& story : stories) compare(story);
  return stories;
}

}  // namespace convladder
