#include "harness/records/case_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/plan/shape_json.hpp"
#include "harness/records/launch_resources.hpp"
#include "harness/records/prediction.hpp"
#include "harness/records/recorded_run.hpp"
#include "support/printable.hpp"
#include "variants/float32.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// None where it is null, or its median is.
std::optional<TimeFigure> time_figure(const JsonPlace& time) {
  if (time.is_null() || !time.has("median")) return std::nullopt;
  TimeFigure figure{.of = time.at("of").text(),
                    .cache = time.at("cache").text_or_empty(),
                    .median = time.at("median").number(),
                    .low = std::nullopt,
                    .high = std::nullopt,
                    .samples = {}};
  if (time.has("interval")) {
    figure.low = time.at("interval").at("low").number();
    figure.high = time.at("interval").at("high").number();
  }
  if (time.has("samples")) figure.samples = time.at("samples").numbers();
  if (time.has("iterations_per_sample")) figure.iterations = time.at("iterations_per_sample").count();
  return figure;
}

constexpr NumberRange kPredictedTimes{.least = kAboveZero, .unit = "ns"};

}  // namespace

PredictedFigure read_prediction(const JsonPlace& place) {
  PredictedFigure figure{.gpu = printable(place.at("gpu").text()),
                         .low_ns = place.at("low").number_or_none(kPredictedTimes),
                         .high_ns = place.at("high").number_or_none(kPredictedTimes),
                         .binding_low = printable(place.at("binding_low").text_or_empty()),
                         .binding_high = printable(place.at("binding_high").text_or_empty()),
                         .occupancy = 2,
                         .limited_by = {}};
  for (const JsonPlace& kernel : place.at("kernels").list()) {
    const JsonPlace residence = kernel.at("occupancy");
    const double share = residence.at("share").number();
    if (!(share < figure.occupancy)) continue;
    figure.occupancy = share;
    figure.limited_by = printable(fmt::format("{}", fmt::join(residence.at("limited_by").texts(), ", ")));
  }
  return figure;
}

namespace {

std::vector<PredictedFigure> predicted_figures(const JsonPlace& one, const std::optional<CountedFigures>& counters) {
  ordered_json computed;
  if (!one.has("prediction") && counters && one.has("resources")) {
    computed = prediction_json(predict(*counters, read_resources(one.at("resources"))));
  }
  const JsonPlace prediction = computed.is_null() ? one.at("prediction") : JsonPlace(computed, "prediction");
  std::vector<PredictedFigure> figures;
  if (prediction.is_null()) return figures;
  for (const JsonPlace& gpu : prediction.at("gpus").list()) figures.push_back(read_prediction(gpu));
  return figures;
}

CaseFigures figures_of(const JsonPlace& one) {
  CaseFigures figures{.id = one.at("id").text(),
                      .variant = one.at("variant").text(),
                      .family = one.at("family").text(),
                      .device = one.at("device").text(),
                      .network = one.at("network").text(),
                      .layer = one.at("layer").text(),
                      .batch = one.at("batch").count(),
                      .rung = std::nullopt,
                      .leaves_out = one.at("leaves_out").text_or_empty(),
                      .status = read_status(one.at("status")),
                      .reason = one.at("reason").text_or_empty(),
                      .quality = std::nullopt,
                      .shape = std::nullopt,
                      .tolerance = kFloat32Tolerance,
                      .time = time_figure(one.at("time")),
                      .other_times = {},
                      .counters = std::nullopt,
                      .predictions = {}};
  if (one.has("rung")) figures.rung = one.at("rung").count();
  if (one.has("quality")) figures.quality = read_quality(one.at("quality"));
  if (one.has("shape")) figures.shape = recorded_size(one);
  if (one.has("work")) {
    figures.flop = one.at("work").at("flop").number();
    figures.minimum_bytes = one.at("work").at("minimum_bytes").number_or_none().value_or(0);
  }
  if (one.has("verification")) {
    figures.tolerance = one.at("verification").at("tolerance").number_or_none().value_or(kFloat32Tolerance);
  }
  if (one.has("other_times")) {
    for (const JsonPlace& other : one.at("other_times").list()) {
      if (std::optional<TimeFigure> time = time_figure(other)) figures.other_times.push_back(std::move(*time));
    }
  }
  if (one.has("counters")) figures.counters = read_counters(one.at("counters"));
  if (figures.status == Status::ok) figures.predictions = predicted_figures(one, figures.counters);
  return figures;
}

}  // namespace

double PredictedFigure::middle_ns() const { return std::sqrt(*low_ns * *high_ns); }

ordered_json place_json(const CaseFigures& one_case) {
  return {{"device", one_case.device},
          {"family", one_case.family},
          {"network", one_case.network},
          {"layer", one_case.layer},
          {"batch", one_case.batch}};
}

std::vector<CaseFigures> case_figures(const JsonPlace& cases) {
  std::vector<CaseFigures> figures;
  for (const JsonPlace& one : cases.list()) figures.push_back(figures_of(one));
  return figures;
}

std::vector<VariantFigures> variant_figures(const JsonPlace& variants) {
  std::vector<VariantFigures> figures;
  for (const JsonPlace& one : variants.list()) {
    figures.push_back({one.at("family").text(), one.at("name").text(), one.at("builds_on").text_or_empty(),
                       one.at("leaves_out").is_there(), one.at("title").text_or_empty(),
                       one.has("rung") ? std::optional(one.at("rung").count()) : std::nullopt});
  }
  return figures;
}

}  // namespace convladder
