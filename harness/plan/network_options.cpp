#include "harness/plan/network_options.hpp"

#include <nlohmann/json.hpp>

#include "harness/plan/setting.hpp"
#include "support/json_null.hpp"

namespace convladder {

using nlohmann::ordered_json;

ordered_json to_json(const NetworkOptions& o) {
  return {{"networks", o.networks},
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
}

NetworkOptions network_options_from_json(const ordered_json& json) {
  const Settings setting(json);
  NetworkOptions o;
  o.networks = setting("networks").texts();
  o.variants = setting("variants").texts();
  o.operators = setting("operators").texts();
  o.devices = setting("devices").texts();
  o.batches = setting("batches").wholes(1, kLargestNetworkBatch);
  o.case_filter = setting("case_filter").text();
  o.data_folder = setting("data_folder").text();
  o.weights = setting("weights").text();
  o.skip_images = setting("skip_images").whole(0, kLargestNetworkBatch);
  o.seed = setting("seed").seed();
  o.budget_seconds = setting("budget_seconds").number(0, kMostSeconds);
  o.repetitions = setting.whole_if_any("repetitions", 1, kMostRepetitions);
  o.chunk = setting.whole_if_any("chunk", 1, kLargestNetworkBatch);
  o.overlap = setting("overlap").truth();
  o.timeout_seconds = setting.number_if_any("timeout_seconds", kShortestTimeout, kMostSeconds);
  o.isolate = setting("isolate").truth();
  return o;
}

}  // namespace convladder
