#include "harness/options.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/errors.hpp"
#include "harness/json_null.hpp"
#include "harness/shape_json.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

template <typename T>
void read(const ordered_json& json, const char* field, T& value) {
  try {
    json.at(field).get_to(value);
  } catch (const ordered_json::exception&) {
    throw UserError(fmt::format("context.options.{} is missing or not of the expected kind", field));
  }
}

template <typename T>
void read_optional(const ordered_json& json, const char* field, std::optional<T>& value) {
  if (!json.contains(field) || json.at(field).is_null()) return;
  value.emplace();
  read(json, field, *value);
}

}  // namespace

ordered_json options_to_json(const RunOptions& o) {
  ordered_json shapes = ordered_json::array();
  for (const ConvShape& shape : o.shapes) shapes.push_back(shape_to_list(shape));
  return {{"families", o.families},
          {"variants", o.variants},
          {"networks", o.networks},
          {"layers", o.layers},
          {"devices", o.devices},
          {"batches", o.batches},
          {"shapes", std::move(shapes)},
          {"case_filter", o.case_filter},
          {"data_folder", o.data_folder},
          {"seed", o.seed},
          {"budget_seconds", o.budget_seconds},
          {"target_half_width", o.target_half_width},
          {"sample_milliseconds", o.sample_milliseconds},
          {"max_samples", o.max_samples},
          {"repetitions", or_null(o.repetitions)},
          {"timeout_seconds", or_null(o.timeout_seconds)},
          {"isolate", o.isolate},
          {"profile_calls", or_null(o.profile_calls)},
          {"google_benchmark_flags", o.google_benchmark_flags}};
}

RunOptions options_from_json(const ordered_json& json) {
  RunOptions o;
  read(json, "families", o.families);
  read(json, "variants", o.variants);
  read(json, "networks", o.networks);
  read(json, "layers", o.layers);
  read(json, "devices", o.devices);
  read(json, "batches", o.batches);
  ordered_json shapes;
  read(json, "shapes", shapes);
  try {
    for (const ordered_json& shape : shapes) o.shapes.push_back(shape_from_list(shape));
  } catch (const std::exception&) {
    throw UserError("context.options.shapes: every shape must be a list of 9 whole numbers");
  }
  read(json, "case_filter", o.case_filter);
  read(json, "data_folder", o.data_folder);
  read(json, "seed", o.seed);
  read(json, "budget_seconds", o.budget_seconds);
  read(json, "target_half_width", o.target_half_width);
  read(json, "sample_milliseconds", o.sample_milliseconds);
  read(json, "max_samples", o.max_samples);
  read_optional(json, "repetitions", o.repetitions);
  read_optional(json, "timeout_seconds", o.timeout_seconds);
  read(json, "isolate", o.isolate);
  read_optional(json, "profile_calls", o.profile_calls);
  read(json, "google_benchmark_flags", o.google_benchmark_flags);
  return o;
}

}  // namespace convladder
