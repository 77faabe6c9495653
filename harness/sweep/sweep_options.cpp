#include "harness/sweep/sweep_options.hpp"

#include <nlohmann/json.hpp>

#include "harness/plan/setting.hpp"

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

SweepOptions sweep_options_from_json(const ordered_json& json) {
  const Settings setting(json);
  return {.run = options_from_json(json),
          .configuration = setting("configuration").text(),
          .limit = setting("limit").whole(1, kMostConfigurations),
          .gpu = setting("gpu").text(),
          .update_table = setting("update_table").truth(),
          .tables = setting("tables").text()};
}

}  // namespace convladder
