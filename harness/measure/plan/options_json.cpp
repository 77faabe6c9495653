#include "harness/measure/plan/options_json.hpp"

#include <nlohmann/json.hpp>

#include "simulator/state/orders_tried.hpp"
#include "support/json_text.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

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
  if (o.default_selection) json["summary"] = true;
  if (!o.checkers) json["checkers"] = false;
  if (o.schedules > 0) json["schedules"] = o.schedules;
  if (!o.with.empty()) json["with"] = o.with;
}

void read_measuring_fields(const JsonPlace& json, int largest_batch, MeasuringOptions& o) {
  o.variants = json.at("variants").texts();
  o.networks = json.at("networks").texts();
  o.devices = json.at("devices").texts();
  o.batches = json.at("batches").wholes(1, largest_batch);
  if (json.has("with")) o.with = json.at("with").texts();
  if (json.has("summary")) o.default_selection = json.at("summary").truth();
  o.case_filter = json.at("case_filter").text();
  o.data_folder = json.at("data_folder").text();
  o.seed = json.at("seed").whole<std::uint64_t>();
  o.budget_seconds = json.at("budget_seconds").number({0, kMostOptionSeconds, "seconds"});
  if (json.has("repetitions")) o.repetitions = json.at("repetitions").whole(1, kMostRepetitions);
  o.timeout_seconds = json.at("timeout_seconds").number_or_none({kShortestTimeout, kMostOptionSeconds, "seconds"});
  o.isolate = json.at("isolate").truth();
  if (json.has("checkers")) o.checkers = json.at("checkers").truth();
  if (json.has("schedules")) o.schedules = json.at("schedules").whole<std::uint64_t>(0, simulated::kMostSchedules);
}

}  // namespace

ordered_json options_json(const RunOptions& o) {
  ordered_json shapes = ordered_json::array();
  for (const ProblemSize& shape : o.shapes) shapes.push_back(size_to_list(shape));
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
  if (o.untrusted) json["untrusted"] = true;
  if (!o.sizes.empty()) json["sizes"] = o.sizes;
  return json;
}

RunOptions read_run_options(const JsonPlace& json) {
  RunOptions o;
  read_measuring_fields(json, kLargestBatch, o);
  o.families = json.at("families").texts();
  o.layers = json.at("layers").texts();
  for (const JsonPlace& shape : json.at("shapes").list()) {
    o.shapes.push_back(read_size(convolution_problem(), shape));
  }
  if (json.has("problem")) o.problem = json.at("problem").text();
  if (json.has("untrusted")) o.untrusted = json.at("untrusted").truth();
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

ordered_json options_json(const NetworkOptions& o) {
  ordered_json json{{"operators", o.operators},
                    {"weights", o.weights},
                    {"skip_images", o.skip_images},
                    {"chunk", or_null(o.chunk)},
                    {"overlap", o.overlap}};
  add_measuring_fields(json, o);
  if (o.all) json["all"] = true;
  return json;
}

NetworkOptions read_network_options(const JsonPlace& json) {
  NetworkOptions o;
  read_measuring_fields(json, kLargestNetworkBatch, o);
  if (json.has("all")) o.all = json.at("all").truth();
  o.operators = json.at("operators").texts();
  o.weights = json.at("weights").text();
  o.skip_images = json.at("skip_images").whole(0, kLargestNetworkBatch);
  if (json.has("chunk")) o.chunk = json.at("chunk").whole(1, kLargestNetworkBatch);
  o.overlap = json.at("overlap").truth();
  return o;
}

ordered_json options_json(const SweepOptions& o) {
  ordered_json json = options_json(o.run);
  json["configuration"] = o.configuration;
  json["limit"] = o.limit;
  json["gpu"] = o.gpu;
  json["update_table"] = o.update_table;
  json["tables"] = o.tables;
  return json;
}

SweepOptions read_sweep_options(const JsonPlace& json) {
  return {.run = read_run_options(json),
          .configuration = json.at("configuration").text(),
          .limit = json.at("limit").whole(1, kMostConfigurations),
          .gpu = json.at("gpu").text(),
          .update_table = json.at("update_table").truth(),
          .tables = json.at("tables").text()};
}

ordered_json options_json(const RankOptions& o) {
  ordered_json json = options_json(o.run);
  json["submissions"] = o.submissions;
  json["against"] = text_or_null(o.against);
  json["gpu"] = o.gpu;
  json["tau"] = o.tau;
  json["limit_seconds"] = o.limit_seconds;
  return json;
}

ordered_json dim_json(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }

Dim3 read_dim(const JsonPlace& place) {
  const std::vector<unsigned> n = place.wholes(0U, 0x7fffffffU, 3);
  return {n[0], n[1], n[2]};
}

ordered_json size_to_list(const ProblemSize& size) {
  ordered_json list = {size.batch};
  for (const int value : size.values) list.push_back(value);
  return list;
}

ProblemSize read_size(const Problem& problem, const JsonPlace& list) {
  const std::vector<int> numbers = list.wholes(0, 1 << 30, 1 + problem.dimensions().size());
  return {&problem, numbers.front(), {numbers.begin() + 1, numbers.end()}};
}

}  // namespace convladder
