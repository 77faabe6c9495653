#include "harness/plan/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "harness/plan/plan.hpp"
#include "harness/plan/setting.hpp"
#include "harness/plan/shape_json.hpp"
#include "support/json_null.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

ConvShape shape_of(const Setting& shapes, const ordered_json& list) {
  constexpr std::size_t numbers = 9;
  if (!list.is_array() || list.size() != numbers || !std::ranges::all_of(list, [](const ordered_json& number) {
        return number.is_number_integer() && number.get<std::int64_t>() >= 0 && number.get<std::int64_t>() <= 1 << 30;
      })) {
    shapes.fail("every shape must be a list of 9 whole numbers");
  }
  return shape_from_list(list);
}

}  // namespace

bool is_own_google_flag(std::string_view flag) {
  constexpr std::array<std::string_view, 8> own{
      "--benchmark_format", "--benchmark_out_format",  "--benchmark_out",      "--benchmark_report_aggregates_only",
      "--benchmark_filter", "--benchmark_repetitions", "--benchmark_min_time", "--benchmark_list_tests"};
  return std::ranges::find(own, flag.substr(0, flag.find('='))) != own.end();
}

ordered_json options_to_json(const RunOptions& o) {
  ordered_json shapes = ordered_json::array();
  for (const ConvShape& shape : o.shapes) shapes.push_back(shape_to_list(shape));
  ordered_json json = {{"families", o.families},
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
  // Where they are as they always were, records stay as they are.
  if (o.problem != RunOptions().problem) json["problem"] = o.problem;
  if (!o.sizes.empty()) json["sizes"] = o.sizes;
  return json;
}

RunOptions options_from_json(const ordered_json& json) {
  const Settings setting(json);
  RunOptions o;
  o.families = setting("families").texts();
  o.variants = setting("variants").texts();
  o.networks = setting("networks").texts();
  o.layers = setting("layers").texts();
  o.devices = setting("devices").texts();
  o.batches = setting("batches").wholes(1, kLargestBatch);
  const Setting shapes = setting("shapes");
  for (const ordered_json& shape : shapes.list()) o.shapes.push_back(shape_of(shapes, shape));
  if (setting.has("problem")) o.problem = setting("problem").text();
  if (setting.has("sizes")) o.sizes = setting("sizes").texts();
  o.case_filter = setting("case_filter").text();
  o.data_folder = setting("data_folder").text();
  o.seed = setting("seed").seed();
  o.budget_seconds = setting("budget_seconds").number(0, kMostSeconds);
  o.target_half_width = setting("target_half_width").number(0, 1);
  o.sample_milliseconds = setting("sample_milliseconds").number(0, kMostSeconds * 1e3);
  if (o.sample_milliseconds == 0) setting("sample_milliseconds").fail("expected a number above 0");
  o.max_samples = setting("max_samples").whole(1, kMostRepetitions);
  o.repetitions = setting.whole_if_any("repetitions", 1, kMostRepetitions);
  o.timeout_seconds = setting.number_if_any("timeout_seconds", kShortestTimeout, kMostSeconds);
  o.isolate = setting("isolate").truth();
  o.profile_calls = setting.whole_if_any("profile_calls", 1, kMostRepetitions);
  const Setting flags = setting("google_benchmark_flags");
  o.google_benchmark_flags = flags.texts();
  for (const std::string& flag : o.google_benchmark_flags) {
    if (!flag.starts_with("--benchmark_") || is_own_google_flag(flag)) {
      flags.fail(fmt::format("{} is not a flag that can be passed to Google Benchmark", short_json(flag)));
    }
  }
  return o;
}

}  // namespace convladder
