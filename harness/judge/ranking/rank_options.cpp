#include "harness/judge/ranking/rank_options.hpp"

#include <nlohmann/json.hpp>

#include "support/json_null.hpp"

namespace convladder {

using nlohmann::ordered_json;

ordered_json to_json(const RankOptions& o) {
  ordered_json json = options_to_json(o.run);
  json["submissions"] = o.submissions;
  json["against"] = text_or_null(o.against);
  json["gpu"] = o.gpu;
  json["tau"] = o.tau;
  json["limit_seconds"] = o.limit_seconds;
  return json;
}

}  // namespace convladder
