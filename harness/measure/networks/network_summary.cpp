#include "harness/measure/networks/network_summary.hpp"

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
  if (!result.outcome.loaded.samples.empty()) {
    row.loaded = median(result.outcome.loaded.samples);
    if (*row.loaded > 0) row.loaded_images_second = result.planned.batch / (*row.loaded * 1e-9);
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

void compare(NetworkSummary& summary) {
  summary.baseline = at_rung(summary.rows, 1);
  summary.sixth = at_rung(summary.rows, convolution_problem().introduction_rungs());
  summary.best = fastest(summary.rows, [](const NetworkRow& row) {
    return !row.is_library && !row.is_fused && in_float32(row.of->planned);
  });
  summary.library = fastest(summary.rows, [](const NetworkRow& row) {
    return row.is_library && !row.is_fused && in_float32(row.of->planned);
  });
  std::optional<double> library_loaded;
  for (const NetworkRow& row : summary.rows) {
    if (!row.is_library || !row.loaded || !in_float32(row.of->planned)) continue;
    library_loaded = std::min(row.loaded.value(), library_loaded.value_or(*row.loaded));
  }
  for (NetworkRow& row : summary.rows) {
    if (library_loaded && row.loaded && *row.loaded > 0) row.x_library = *library_loaded / *row.loaded;
    if (row.is_fused || !(row.op > 0)) continue;
    if (summary.baseline != nullptr) row.x_baseline = summary.baseline->op / row.op;
    if (summary.library != nullptr) row.percent_of_library = summary.library->op / row.op * 100;
  }
}

}  // namespace

std::vector<NetworkSummary> network_summaries(const std::vector<NetworkResult>& results) {
  std::vector<NetworkSummary> summaries;
  for (const NetworkResult& result : results) {
    if (result.outcome.status != Status::ok) continue;
    const NetworkCase& planned = result.planned;
    auto same = std::ranges::find_if(summaries, [&planned](const NetworkSummary& summary) {
      const NetworkCase& first = summary.rows.front().of->planned;
      return first.network == planned.network && first.device == planned.device && first.batch == planned.batch;
    });
    if (same == summaries.end()) same = summaries.insert(summaries.end(), NetworkSummary());
    same->rows.push_back(row_of(result));
  }
  for (NetworkSummary& summary : summaries) compare(summary);
  return summaries;
}

}  // namespace convladder
