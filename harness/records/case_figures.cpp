#include "harness/records/case_figures.hpp"

#include <nlohmann/json.hpp>

#include "harness/plan/shape_json.hpp"
#include "support/json_place.hpp"
#include "variants/float32.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

std::string text_or_empty(const ordered_json& object, const char* field) {
  const auto found = object.find(field);
  return found == object.end() || found->is_null() ? std::string() : found->get<std::string>();
}

double number_or(const ordered_json& json, const char* pointer, double otherwise) {
  const ordered_json value = value_at(json, pointer);
  return value.is_number() ? value.get<double>() : otherwise;
}

/// None where it is null, or its median is.
std::optional<TimeFigure> time_figure(const ordered_json& time) {
  if (time.is_null() || !time.at("median").is_number()) return std::nullopt;
  TimeFigure figure{.of = time.at("of"),
                    .cache = text_or_empty(time, "cache"),
                    .median = time.at("median"),
                    .low = std::nullopt,
                    .high = std::nullopt};
  if (const ordered_json interval = time.value("interval", ordered_json()); !interval.is_null()) {
    figure.low = interval.at("low");
    figure.high = interval.at("high");
  }
  return figure;
}

std::map<std::string, double> numbers(const ordered_json& json, const char* pointer) {
  const ordered_json value = value_at(json, pointer);
  return value.is_null() ? std::map<std::string, double>() : value.get<std::map<std::string, double>>();
}

std::optional<CountedFigures> counted_figures(const ordered_json& one_case) {
  if (value_at(one_case, "/counters").is_null()) return std::nullopt;
  return CountedFigures{numbers(one_case, "/counters/totals"), numbers(one_case, "/counters/modelled")};
}

std::vector<PredictedFigure> predicted_figures(const ordered_json& one_case) {
  std::vector<PredictedFigure> figures;
  for (const ordered_json& gpu : value_at(one_case, "/prediction/gpus")) {
    if (gpu.at("low").is_number() && gpu.at("high").is_number()) {
      figures.push_back({gpu.at("gpu"), gpu.at("low"), gpu.at("high")});
    }
  }
  return figures;
}

CaseFigures figures_of(const ordered_json& one_case) {
  CaseFigures figures{.id = one_case.at("id"),
                      .variant = one_case.at("variant"),
                      .family = one_case.at("family"),
                      .device = one_case.at("device"),
                      .network = one_case.at("network"),
                      .layer = one_case.at("layer"),
                      .batch = one_case.at("batch"),
                      .rung = std::nullopt,
                      .leaves_out = text_or_empty(one_case, "leaves_out"),
                      .status = status_from_name(one_case.at("status").get<std::string>()).value(),
                      .reason = text_or_empty(one_case, "reason"),
                      .quality = {},
                      .shape = std::nullopt,
                      .flop = number_or(one_case, "/work/flop", 0),
                      .minimum_bytes = number_or(one_case, "/work/minimum_bytes", 0),
                      .tolerance = number_or(one_case, "/verification/tolerance", kFloat32Tolerance),
                      .time = time_figure(one_case.at("time")),
                      .other_times = {},
                      .counters = counted_figures(one_case),
                      .predictions = predicted_figures(one_case)};
  if (const ordered_json mark = value_at(one_case, "/quality/mark"); mark.is_string()) figures.quality = mark;
  if (!one_case.at("rung").is_null()) figures.rung = one_case.at("rung").get<int>();
  if (one_case.contains("shape")) figures.shape = recorded_size(one_case);
  for (const ordered_json& other : one_case.value("other_times", ordered_json::array())) {
    if (std::optional<TimeFigure> time = time_figure(other)) figures.other_times.push_back(std::move(*time));
  }
  return figures;
}

}  // namespace

std::vector<CaseFigures> case_figures(const ordered_json& cases) {
  std::vector<CaseFigures> figures;
  for (const ordered_json& one_case : cases) figures.push_back(figures_of(one_case));
  return figures;
}

std::vector<VariantFigures> variant_figures(const ordered_json& variants) {
  std::vector<VariantFigures> figures;
  for (const ordered_json& variant : variants) {
    figures.push_back({variant.at("family"), variant.at("name"), text_or_empty(variant, "builds_on"),
                       variant.contains("leaves_out")});
  }
  return figures;
}

}  // namespace convladder
