#include "harness/measure/sweep/sweep_options.hpp"

#include <nlohmann/json.hpp>

namespace convladder {

using nlohmann::ordered_json;

ordered_json to_json(const SweepOptions& o) {
  ordered_json json = options_to_json(o.run);
  json["configuration"] = o.configuration;
  json["limit"] = o.limit;
  json["gpu"] = o.gpu;
  json["update_table"] = o.update_table;
  json["tables"] = o.tables;
  return json;
}

SweepOptions sweep_options_from_json(const JsonPlace& json) {
  return {.run = options_from_json(json),
          .configuration = json.at("configuration").text(),
          .limit = json.at("limit").whole(1, kMostConfigurations),
          .gpu = json.at("gpu").text(),
          .update_table = json.at("update_table").truth(),
          .tables = json.at("tables").text()};
}

}  // namespace convladder
