#include "harness/plan/network_options.hpp"

#include <nlohmann/json.hpp>

#include "support/json_null.hpp"

namespace convladder {

using nlohmann::ordered_json;

ordered_json to_json(const NetworkOptions& o) {
  return {{"networks", o.networks},
          {"variants", o.variants},
          {"operators", o.operators},
          {"devices", o.devices},
          {"batches", o.batches},
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

}  // namespace convladder
