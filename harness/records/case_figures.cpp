#include "harness/records/case_figures.hpp"

#include "harness/plan/shape_json.hpp"
#include "harness/records/recorded_run.hpp"
#include "variants/float32.hpp"

namespace convladder {
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

std::vector<PredictedFigure> predicted_figures(const JsonPlace& prediction) {
  std::vector<PredictedFigure> figures;
  for (const JsonPlace& gpu : prediction.at("gpus").list()) {
    if (!gpu.has("low") || !gpu.has("high")) continue;
    figures.push_back({gpu.at("gpu").text(), gpu.at("low").number(), gpu.at("high").number()});
  }
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
  if (one.has("prediction")) figures.predictions = predicted_figures(one.at("prediction"));
  return figures;
}

}  // namespace

std::vector<CaseFigures> case_figures(const JsonPlace& cases) {
  std::vector<CaseFigures> figures;
  for (const JsonPlace& one : cases.list()) figures.push_back(figures_of(one));
  return figures;
}

std::vector<VariantFigures> variant_figures(const JsonPlace& variants) {
  std::vector<VariantFigures> figures;
  for (const JsonPlace& one : variants.list()) {
    figures.push_back({one.at("family").text(), one.at("name").text(), one.at("builds_on").text_or_empty(),
                       one.at("leaves_out").is_there(), one.at("title").text_or_empty()});
  }
  return figures;
}

}  // namespace convladder
