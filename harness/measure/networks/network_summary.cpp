#include "harness/measure/networks/network_summary.hpp"

#include <algorithm>
#include <functional>
#include <vector>

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

/// The convolutions' time: `sum` of their medians, with the interval of the sums of each pass. Counts are exact.
KnownFigure known_op(const NetworkResult& result, double sum) {
  if (!result.planned.has_clock) return {.value = sum, .low = sum, .high = sum, .level = 1};
  std::vector<double> passes(result.outcome.totals.size(), 0.0);
  for (const StepOutcome& step : result.outcome.steps) {
    if (step.type != "convolution") continue;
    if (step.samples.size() != passes.size()) return {.value = sum};
    for (std::size_t i = 0; i < passes.size(); ++i) passes[i] += step.samples[i];
  }
  if (passes.empty() || !std::ranges::all_of(passes, [](double one) { return one > 0; })) return {.value = sum};
  KnownFigure known = median_in_time(passes, kLevelOfEach);
  known.value = sum;
  if (known.low) known.low = std::min(*known.low, sum);
  if (known.high) known.high = std::max(*known.high, sum);
  return known;
}

bool has_real_clock(const NetworkResult& result) {
  return result.planned.has_clock && !find_device_kind(result.planned.device).clock_is_virtual();
}

/// Images per second from the times of so many images, in nanoseconds. At least one time.
std::optional<Ratio> images_per_second(int images, const std::vector<double>& times, bool measured) {
  const double all = images;
  const KnownFigure count{.value = all, .low = all, .high = all, .level = 1};
  const std::optional<Ratio> rate = ratio_by_medians(count, median_in_time(times, kRatioLevel));
  if (!rate) return std::nullopt;
  return measured ? rate->times(1e9).from_run_to_run() : rate->times(1e9);
}

/// The ratio of two figures of different cases, which are run one after the other.
std::optional<Ratio> compared(const KnownFigure& over, const KnownFigure& own, const NetworkResult& result,
                              double scale = 1) {
  if (!result.planned.has_clock) return ratio_by_counts(scale * over.value, own.value);
  const std::optional<Ratio> x = ratio_by_medians(over, own);
  if (!x) return std::nullopt;
  return has_real_clock(result) ? x->times(scale).from_run_to_run() : x->times(scale);
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
  row.known_op = known_op(result, row.op);
  if (!result.outcome.totals.empty()) {
    row.pass = median(result.outcome.totals);
    row.images_second = images_per_second(result.planned.batch, result.outcome.totals, has_real_clock(result));
  }
  if (!result.outcome.loaded.samples.empty()) {
    row.loaded = median(result.outcome.loaded.samples);
    row.loaded_images_second =
        images_per_second(result.planned.batch, result.outcome.loaded.samples, has_real_clock(result));
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
  const NetworkRow* loaded_library = nullptr;
  for (const NetworkRow& row : summary.rows) {
    if (!row.is_library || !row.loaded || !in_float32(row.of->planned)) continue;
    if (loaded_library == nullptr || *row.loaded < *loaded_library->loaded) loaded_library = &row;
  }
  const auto loaded_times = [](const NetworkRow& row) {
    return median_in_time(row.of->outcome.loaded.samples, kLevelOfEach);
  };
  for (NetworkRow& row : summary.rows) {
    if (&row == loaded_library) {
      row.x_library = kOverItself;
    } else if (loaded_library != nullptr && row.loaded) {
      row.x_library = compared(loaded_times(*loaded_library), loaded_times(row), *row.of);
    }
    if (row.is_fused || !(row.op > 0)) continue;
    if (&row == summary.baseline) {
      row.x_baseline = kOverItself;
    } else if (summary.baseline != nullptr) {
      row.x_baseline = compared(summary.baseline->known_op, row.known_op, *row.of);
    }
    if (&row == summary.library) {
      row.percent_of_library = kOverItself.times(100);
    } else if (summary.library != nullptr) {
      row.percent_of_library = compared(summary.library->known_op, row.known_op, *row.of, 100);
    }
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
