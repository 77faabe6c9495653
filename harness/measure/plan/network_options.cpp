#include "harness/measure/plan/network_options.hpp"

#include <nlohmann/json.hpp>

#include "harness/measure/plan/options.hpp"
#include "support/json_null.hpp"

namespace convladder {

using nlohmann::ordered_json;

ordered_json to_json(const NetworkOptions& o) {
  ordered_json json{{"networks", o.networks},
                    {"variants", o.variants},
                    {"operators", o.operators},
                    {"devices", o.devices},
                    {"batches", o.batches},
                    {"case_filter", o.case_filter},
                    {"data_folder", o.data_folder},
                    {"weights", o.weights},
                    {"skip_images", o.skip_images},
                    {"seed", o.seed},
                    {"budget_seconds", o.budget_seconds},
                    {"repetitions", or_null(o.repetitions)},
                    {"chunk", or_null(o.chunk)},
                    {"overlap", o.overlap},
                    {"timeout_seconds", or_null(o.timeout_seconds)},
                    {"isolate", o.isolate}};
  if (!o.with.empty()) json["with"] = o.with;
  if (o.story) json["story"] = true;
  if (o.all) json["all"] = true;
  return json;
}

NetworkOptions network_options_from_json(const JsonPlace& json) {
  NetworkOptions o;
  o.networks = json.at("networks").texts();
  o.variants = json.at("variants").texts();
  if (json.has("with")) o.with = json.at("with").texts();
  if (json.has("story")) o.story = json.at("story").truth();
  if (json.has("all")) o.all = json.at("all").truth();
  o.operators = json.at("operators").texts();
  o.devices = json.at("devices").texts();
  o.batches = json.at("batches").wholes(1, kLargestNetworkBatch);
  o.case_filter = json.at("case_filter").text();
  o.data_folder = json.at("data_folder").text();
  o.weights = json.at("weights").text();
  o.skip_images = json.at("skip_images").whole(0, kLargestNetworkBatch);
  o.seed = json.at("seed").whole<std::uint64_t>();
  o.budget_seconds = json.at("budget_seconds").number({0, kMostOptionSeconds, "seconds"});
  if (json.has("repetitions")) o.repetitions = json.at("repetitions").whole(1, kMostRepetitions);
  if (json.has("chunk")) o.chunk = json.at("chunk").whole(1, kLargestNetworkBatch);
  o.overlap = json.at("overlap").truth();
  o.timeout_seconds = json.at("timeout_seconds").number_or_none({kShortestTimeout, kMostOptionSeconds, "seconds"});
  o.isolate = json.at("isolate").truth();
  return o;
}

}  // namespace convladder
