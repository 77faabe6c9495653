#include "harness/measure/records/recorded_case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/measure/cases/case_session.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"
#include "variants/accuracy.hpp"

namespace convladder {
namespace {

TimeFigure time_figure(const TimeSeries& series, bool is_predicted) {
  TimeFigure figure{.of = series.of,
                    .cache = series.cache,
                    .median = median(series.samples),
                    .low = std::nullopt,
                    .high = std::nullopt,
                    .samples = series.samples,
                    .rounds = series.rounds,
                    .iterations = series.iterations,
                    .is_predicted = is_predicted};
  if (const std::optional<MedianInterval> interval = median_interval(series.samples)) {
    figure.low = interval->low;
    figure.high = interval->high;
    figure.level = interval->level;
  }
  return figure;
}

PredictedFigure predicted_figure(const GpuPrediction& prediction) {
  const auto name = [](TimeTerm term) { return std::string(kTimeTermNames[static_cast<std::size_t>(term)]); };
  PredictedFigure figure{.gpu = std::string(prediction.gpu->name),
                         .low_ns = std::nullopt,
                         .high_ns = std::nullopt,
                         .binding_low = {},
                         .binding_high = {},
                         .occupancy = kNoOccupancy,
                         .limited_by = {},
                         .launches = prediction.kernels.size()};
  if (prediction.ns) {
    figure.low_ns = prediction.ns->low;
    figure.high_ns = prediction.ns->high;
    figure.binding_low = name(prediction.binding_low);
    figure.binding_high = name(prediction.binding_high);
  }
  for (const PredictedKernel& kernel : prediction.kernels) {
    const PredictedLaunch& launch = kernel.launch;
    for (std::size_t i = 0; i < kTimeTerms && launch.residence.blocks > 0; ++i) {
      figure.terms[i].low += launch.terms[i].low;
      figure.terms[i].high += launch.terms[i].high;
    }
    if (!(launch.residence.share < figure.occupancy)) continue;
    figure.occupancy = launch.residence.share;
    figure.limited_by = fmt::format("{}", fmt::join(launch.residence.limited_by, ", "));
  }
  return figure;
}

}  // namespace

double PredictedFigure::middle_ns() const { return std::sqrt(*low_ns * *high_ns); }

std::string RecordedCase::disturbance() const {
  if (!quality || !quality->is_marked()) return {};
  return fmt::format("{}: {}", quality_name(quality->mark), fmt::join(quality->reasons, ", "));
}

const TimeFigure* RecordedCase::layer_time() const {
  if (!time) return nullptr;
  if (time->of == time_of::kLayer) return &*time;
  for (const TimeFigure& other : other_times) {
    if (other.of == time_of::kLayer && other.is_hot()) return &other;
  }
  return nullptr;
}

const PredictedFigure* RecordedCase::prediction_for(std::string_view gpu) const {
  const auto found = std::ranges::find(predictions, gpu, &PredictedFigure::gpu);
  return found == predictions.end() || !found->runs() ? nullptr : &*found;
}

const TimeFigure* RecordedCase::op_time() const { return time && time->of == time_of::kOp ? &*time : nullptr; }

std::optional<double> ratio(std::optional<double> numerator, std::optional<double> denominator, double scale) {
  if (!numerator || !denominator || !(*denominator > 0)) return std::nullopt;
  return scale * *numerator / *denominator;
}

RecordedShape shape_of(const ProblemSize& size) {
  RecordedShape shape;
  const std::vector<Dimension> dimensions = size.problem->dimensions();
  for (std::size_t i = 0; i < dimensions.size(); ++i) shape.emplace_back(dimensions[i].name, size.values[i]);
  for (const auto& [name, value] : size.problem->derived_values(size)) shape.emplace_back(name, value);
  return shape;
}

double most_blocks(const std::vector<KernelCounters>& kernels) {
  double most = 0;
  for (const KernelCounters& kernel : kernels) {
    most = std::max(most, double{1} * kernel.grid.x * kernel.grid.y * kernel.grid.z);
  }
  return most;
}

std::string made_of(const PlannedCase& planned) {
  const CompiledStage* const stage = planned.variant.variant->compiled_stage();
  if (stage == nullptr || stage->build.library.empty()) return {};
  return sha256_hex(stage->problem->text() + '\n' + stage->problem->reference_identity() + '\n' +
                    content_of(stage->build));
}

CheckerLook checker_look(const StageFindings& found) {
  return {.findings = found.count(),
          .not_checked = printable(found.not_checked),
          .orders = static_cast<int>(found.orders.orders),
          .others = static_cast<int>(found.orders.differing + found.orders.failing),
          .orders_not_tried = printable(found.orders.not_tried),
          .seconds = found.seconds};
}

std::vector<std::string> checker_lines(const std::vector<CheckerLook>& looks) {
  constexpr const char* kCheckers = "memory, initialisation, races and barriers";
  std::size_t looked_at = 0;
  std::size_t found = 0;
  double seconds = 0;
  int fewest_orders = 0;
  std::size_t tried = 0;
  std::size_t deterministic = 0;
  std::map<std::string, std::size_t> not_checked;
  std::map<std::string, std::size_t> not_tried;
  for (const CheckerLook& look : looks) {
    seconds += look.seconds;
    if (!look.not_checked.empty()) {
      ++not_checked[look.not_checked];
      continue;
    }
    ++looked_at;
    found += look.findings > 0 ? 1 : 0;
    if (!look.orders_not_tried.empty()) ++not_tried[look.orders_not_tried];
    if (look.orders == 0) continue;
    ++tried;
    fewest_orders = fewest_orders == 0 ? look.orders : std::min(fewest_orders, look.orders);
    deterministic += look.others == 0 ? 1 : 0;
  }
  std::vector<std::string> lines;
  if (looked_at > 0) {
    const std::string result = found > 0 ? fmt::format("{} unsafe", plural(found, "case")) : "nothing found";
    lines.push_back(
        fmt::format("{}: {} checked, {}, in {}", kCheckers, plural(looked_at, "case"), result, duration_text(seconds)));
  }
  if (fewest_orders > 0) {
    lines.push_back(fmt::format("{} of {} deterministic over {} schedules of their launches or more", deterministic,
                                plural(tried, "case"), fewest_orders));
  }
  for (const auto& [reason, count] : not_tried) {
    lines.push_back(fmt::format("{} not run in other orders, or not in all: {}", plural(count, "case"), reason));
  }
  for (const auto& [reason, count] : not_checked) {
    lines.push_back(fmt::format("{} not checked for {}: {}", plural(count, "case"), kCheckers, reason));
  }
  return lines;
}

RecordedCase recorded_case(const PlannedCase& planned, const CaseOutcome& outcome) {
  const VariantInfo& info = planned.variant.info;
  const ProblemSize& size = planned.work.shape;
  const bool is_predicted = find_device_kind(planned.device).clock_is_virtual();
  RecordedCase one{.id = planned.id,
                   .variant = std::string(info.name),
                   .family = std::string(info.family),
                   .device = planned.device,
                   .network = planned.work.network,
                   .layer = planned.work.layer,
                   .batch = size.batch,
                   .rung = info.rung,
                   .leaves_out = std::string(info.leaves_out),
                   .status = outcome.status,
                   .reason = printable(outcome.reason),
                   .input = outcome.input_kind,
                   .choice = printable(outcome.choice),
                   .shape = shape_of(size),
                   .time = std::nullopt,
                   .counters = outcome.counters,
                   .quality = outcome.quality,
                   .look = std::nullopt,
                   .size = size,
                   .flop = size.flop(),
                   .minimum_bytes = size.minimum_bytes(),
                   .tolerance = outcome.verification ? outcome.verification->tolerance : kFloat32Tolerance,
                   .other_times = {},
                   .predictions = {}};
  if (outcome.checkers) one.look = checker_look(*outcome.checkers);
  for (const TimeSeries& series : outcome.times) {
    TimeFigure figure = time_figure(series, is_predicted);
    figure.wave = outcome.wave;
    if (one.time) {
      one.other_times.push_back(std::move(figure));
    } else {
      one.time = std::move(figure);
    }
  }
  if (one.time && outcome.prepare_ns) {
    one.other_times.push_back(time_figure({time_of::kPrepare, "", 1, {*outcome.prepare_ns}}, is_predicted));
  }
  if (!one.counters) return one;
  one.blocks = most_blocks(one.counters->kernels);
  if (const std::optional<Prediction> prediction =
          predict(*one.counters, resources_of(planned, one.counters->kernels))) {
    for (const GpuPrediction& gpu : prediction->gpus) one.predictions.push_back(predicted_figure(gpu));
  }
  return one;
}

RecordedVariant recorded_variant(const VariantInfo& info) {
  return {.family = std::string(info.family),
          .name = std::string(info.name),
          .builds_on = std::string(info.builds_on),
          .leaves_out = !info.leaves_out.empty(),
          .title = std::string(info.title),
          .rung = info.rung,
          .hypothesis = printable(info.hypothesis)};
}

}  // namespace convladder
