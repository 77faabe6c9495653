#include "harness/measure/records/case_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/measure/cases/counters.hpp"
#include "harness/measure/plan/shape_json.hpp"
#include "support/printable.hpp"
#include "variants/float32.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr NumberRange kPredictedTimes{.least = kAboveZero, .unit = "ns"};

void add_terms(const JsonPlace& recorded, std::array<Range, kTimeTerms>& terms) {
  for (std::size_t i = 0; i < kTimeTerms; ++i) {
    const JsonPlace term = recorded.at(kTimeTermNames[i]);
    terms[i].low += term.at("low").number(kNotNegative);
    terms[i].high += term.at("high").number(kNotNegative);
  }
}

}  // namespace

PredictedFigure read_prediction(const JsonPlace& place) {
  PredictedFigure figure{.gpu = printable(place.at("gpu").text()),
                         .low_ns = place.at("low").number_or_none(kPredictedTimes),
                         .high_ns = place.at("high").number_or_none(kPredictedTimes),
                         .binding_low = printable(place.at("binding_low").text_or_empty()),
                         .binding_high = printable(place.at("binding_high").text_or_empty()),
                         .occupancy = 2,
                         .limited_by = {},
                         .launches = 0,
                         .terms = {}};
  for (const JsonPlace& kernel : place.at("kernels").list()) {
    ++figure.launches;
    if (kernel.has("terms")) add_terms(kernel.at("terms"), figure.terms);
    const JsonPlace residence = kernel.at("occupancy");
    const double share = residence.at("share").number();
    if (!(share < figure.occupancy)) continue;
    figure.occupancy = share;
    figure.limited_by = printable(fmt::format("{}", fmt::join(residence.at("limited_by").texts(), ", ")));
  }
  return figure;
}

namespace {

std::vector<PredictedFigure> predicted_figures(const JsonPlace& one) {
  std::vector<PredictedFigure> figures;
  if (!one.has("prediction")) return figures;
  for (const JsonPlace& gpu : one.at("prediction").at("gpus").list()) figures.push_back(read_prediction(gpu));
  return figures;
}

/// Blocks of the largest launch.
double most_blocks(const JsonPlace& counters) {
  double most = 0;
  for (const JsonPlace& kernel : counters.at("kernels").list()) {
    double blocks = 1;
    for (const double along : kernel.at("grid").numbers(kNotNegative)) blocks *= along;
    most = std::max(most, blocks);
  }
  return most;
}

CaseFigures figures_of(const JsonPlace& one) {
  CaseFigures figures;
  static_cast<RecordedCase&>(figures) = read_case(one);
  figures.family = one.at("family").text();
  figures.tolerance = kFloat32Tolerance;
  if (one.has("shape")) figures.size = recorded_size(one);
  if (one.has("work")) {
    figures.flop = one.at("work").at("flop").number();
    figures.minimum_bytes = one.at("work").at("minimum_bytes").number_or_none().value_or(0);
  }
  if (one.has("verification")) {
    figures.tolerance = one.at("verification").at("tolerance").number_or_none().value_or(kFloat32Tolerance);
  }
  if (one.has("other_times")) {
    for (const JsonPlace& other : one.at("other_times").list()) {
      if (std::optional<TimeFigure> time = read_time(other)) figures.other_times.push_back(std::move(*time));
    }
  }
  if (one.has("counters")) figures.blocks = most_blocks(one.at("counters"));
  if (figures.status == Status::ok) figures.predictions = predicted_figures(one);
  return figures;
}

}  // namespace

double PredictedFigure::middle_ns() const { return std::sqrt(*low_ns * *high_ns); }

std::optional<double> ratio(std::optional<double> numerator, std::optional<double> denominator, double scale) {
  if (!numerator || !denominator || !(*denominator > 0)) return std::nullopt;
  return scale * *numerator / *denominator;
}

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
                       one.has("rung") ? std::optional(one.at("rung").count()) : std::nullopt,
                       printable(one.at("hypothesis").text_or_empty())});
  }
  return figures;
}

}  // namespace convladder
