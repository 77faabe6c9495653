#include "harness/measure/plan/options.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "harness/measure/plan/plan.hpp"
#include "harness/measure/plan/shape_json.hpp"
#include "support/json_null.hpp"
#include "support/json_place.hpp"

namespace convladder {

using nlohmann::ordered_json;

bool is_own_google_flag(std::string_view flag) {
  constexpr std::array<std::string_view, 8> own{
      "--benchmark_format", "--benchmark_out_format",  "--benchmark_out",      "--benchmark_report_aggregates_only",
      "--benchmark_filter", "--benchmark_repetitions", "--benchmark_min_time", "--benchmark_list_tests"};
  return std::ranges::find(own, flag.substr(0, flag.find('='))) != own.end();
}

void add_measuring_fields(ordered_json& json, const MeasuringOptions& o) {
  json.update({{"variants", o.variants},
               {"networks", o.networks},
               {"devices", o.devices},
               {"batches", o.batches},
               {"case_filter", o.case_filter},
               {"data_folder", o.data_folder},
               {"seed", o.seed},
               {"budget_seconds", o.budget_seconds},
               {"repetitions", or_null(o.repetitions)},
               {"timeout_seconds", or_null(o.timeout_seconds)},
               {"isolate", o.isolate}});
  if (o.story) json["story"] = true;
  if (!o.with.empty()) json["with"] = o.with;
}

void read_measuring_fields(const JsonPlace& json, int largest_batch, MeasuringOptions& o) {
  o.variants = json.at("variants").texts();
  o.networks = json.at("networks").texts();
  o.devices = json.at("devices").texts();
  o.batches = json.at("batches").wholes(1, largest_batch);
  if (json.has("with")) o.with = json.at("with").texts();
  if (json.has("story")) o.story = json.at("story").truth();
  o.case_filter = json.at("case_filter").text();
  o.data_folder = json.at("data_folder").text();
  o.seed = json.at("seed").whole<std::uint64_t>();
  o.budget_seconds = json.at("budget_seconds").number({0, kMostOptionSeconds, "seconds"});
  if (json.has("repetitions")) o.repetitions = json.at("repetitions").whole(1, kMostRepetitions);
  o.timeout_seconds = json.at("timeout_seconds").number_or_none({kShortestTimeout, kMostOptionSeconds, "seconds"});
  o.isolate = json.at("isolate").truth();
}

ordered_json options_to_json(const RunOptions& o) {
  ordered_json shapes = ordered_json::array();
  for (const ConvShape& shape : o.shapes) shapes.push_back(shape_to_list(shape));
  ordered_json json = {{"families", o.families},
                       {"layers", o.layers},
                       {"shapes", std::move(shapes)},
                       {"target_half_width", o.target_half_width},
                       {"sample_milliseconds", o.sample_milliseconds},
                       {"max_samples", o.max_samples},
                       {"profile_calls", or_null(o.profile_calls)},
                       {"google_benchmark_flags", o.google_benchmark_flags}};
  add_measuring_fields(json, o);
  // Only where something was chosen.
  if (o.problem != kDefaultProblem) json["problem"] = o.problem;
  if (!o.ladder.empty()) json["ladder"] = o.ladder;
  if (o.strangers) json["strangers"] = true;
  if (!o.sizes.empty()) json["sizes"] = o.sizes;
  return json;
}

RunOptions options_from_json(const JsonPlace& json) {
  RunOptions o;
  read_measuring_fields(json, kLargestBatch, o);
  o.families = json.at("families").texts();
  o.layers = json.at("layers").texts();
  for (const JsonPlace& shape : json.at("shapes").list()) o.shapes.push_back(read_shape(shape));
  if (json.has("problem")) o.problem = json.at("problem").text();
  if (json.has("strangers")) o.strangers = json.at("strangers").truth();
  if (json.has("ladder")) o.ladder = json.at("ladder").text();
  if (json.has("sizes")) o.sizes = json.at("sizes").texts();
  o.target_half_width = json.at("target_half_width").number({0, 1});
  o.sample_milliseconds = json.at("sample_milliseconds").number({kAboveZero, kMostOptionSeconds * 1e3, "ms"});
  o.max_samples = json.at("max_samples").whole(1, kMostRepetitions);
  if (json.has("profile_calls")) o.profile_calls = json.at("profile_calls").whole(1, kMostRepetitions);
  o.google_benchmark_flags = json.at("google_benchmark_flags").texts();
  for (const std::string& flag : o.google_benchmark_flags) {
    if (!flag.starts_with("--benchmark_") || is_own_google_flag(flag)) {
      json.at("google_benchmark_flags").expected("flags that can be passed to Google Benchmark");
    }
  }
  return o;
}

}  // namespace convladder
