#include "harness/measure/plan/network_options.hpp"

#include <nlohmann/json.hpp>

#include "support/json_null.hpp"

namespace convladder {

using nlohmann::ordered_json;

ordered_json to_json(const NetworkOptions& o) {
  ordered_json json{{"operators", o.operators},
                    {"weights", o.weights},
                    {"skip_images", o.skip_images},
                    {"chunk", or_null(o.chunk)},
                    {"overlap", o.overlap}};
  add_measuring_fields(json, o);
  if (o.all) json["all"] = true;
  return json;
}

NetworkOptions network_options_from_json(const JsonPlace& json) {
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

}  // namespace convladder
