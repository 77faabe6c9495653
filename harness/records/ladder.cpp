#include "harness/records/ladder.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "harness/cases/case_session.hpp"
#include "harness/cases/floor.hpp"
#include "support/json_place.hpp"
#include "variants/float32.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

std::optional<double> number(const ordered_json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

/// Median of NCHW in to NCHW out: the case's own time, or the one beside its op time.
std::optional<double> layer_median(const ordered_json& one_case) {
  const ordered_json& time = one_case.at("time");
  if (time.is_null()) return std::nullopt;
  if (time.at("of") == time_of::kLayer) return number(time.at("median"));
  for (const ordered_json& other : one_case.at("other_times")) {
    if (other.at("of") == time_of::kLayer && other.value("cache", "hot") == "hot") return number(other.at("median"));
  }
  return std::nullopt;
}

/// Median of the convolution alone in a layout of its own; none for a case that works in NCHW.
std::optional<double> op_median(const ordered_json& one_case) {
  const ordered_json& time = one_case.at("time");
  return time.is_null() || time.at("of") != time_of::kOp ? std::nullopt : number(time.at("median"));
}

/// Of the error that its verification allows, by its own kind of arithmetic; fp32's where it was not verified.
double tolerance(const ordered_json& one_case) {
  const auto verification = one_case.find("verification");
  return verification == one_case.end() || verification->is_null()
             ? kFloat32Tolerance
             : verification->value("tolerance", kFloat32Tolerance);
}

ordered_json ratio(std::optional<double> numerator, std::optional<double> denominator, double scale = 1) {
  if (!numerator || !denominator || !(*denominator > 0)) return nullptr;
  return scale * *numerator / *denominator;
}

/// The cases of one ladder, in ladder order.
struct Ladder {
  std::vector<const ordered_json*> cases;

  std::optional<double> layer_median_of(const ordered_json& variant_name) const {
    for (const ordered_json* one_case : cases) {
      if (one_case->at("variant") == variant_name) return layer_median(*one_case);
    }
    return std::nullopt;
  }
  /// Of the lowest rung.
  std::optional<double> baseline() const {
    return cases.front()->at("rung").is_null() ? std::nullopt : layer_median(*cases.front());
  }
  /// By its layer time, or by its op time, of those that are at least as accurate as the case: a library in tf32 is no
  /// ceiling of a stage in fp32.
  std::optional<double> fastest_library(const ordered_json& compared,
                                        std::optional<double> (*time_of_case)(const ordered_json&)) const {
    std::optional<double> fastest;
    for (const ordered_json* one_case : cases) {
      if (!one_case->at("rung").is_null() || tolerance(*one_case) > tolerance(compared)) continue;
      const std::optional<double> time = time_of_case(*one_case);
      if (time && (!fastest || *time < *fastest)) fastest = time;
    }
    return fastest;
  }
};

ordered_json row_of(const ordered_json& one_case, const Ladder& ladder, const ordered_json& builds_on,
                    std::optional<double> floor_ns) {
  const ordered_json& time = one_case.at("time");
  const bool timed = !time.is_null();
  const ordered_json interval = timed ? time.at("interval") : ordered_json();
  const std::optional<double> layer = layer_median(one_case);
  return {{"case", one_case.at("id")},
          {"variant", one_case.at("variant")},
          {"rung", one_case.at("rung")},
          {"of", timed ? time.at("of") : ordered_json()},
          {"status", one_case.at("status")},
          {"median_ns", timed ? time.at("median") : ordered_json()},
          {"low_ns", interval.is_null() ? ordered_json() : interval.at("low")},
          {"high_ns", interval.is_null() ? ordered_json() : interval.at("high")},
          {"gflop_per_s",
           timed ? ratio(number(one_case.at("work").at("flop")), number(time.at("median"))) : ordered_json()},
          {"layer_median_ns", layer ? ordered_json(*layer) : ordered_json()},
          {"x_previous", builds_on.is_null() ? ordered_json() : ratio(ladder.layer_median_of(builds_on), layer)},
          {"x_baseline", ratio(ladder.baseline(), layer)},
          {"percent_of_library", ratio(ladder.fastest_library(one_case, layer_median), layer, 100)},
          {"percent_of_library_op", ratio(ladder.fastest_library(one_case, op_median), layer, 100)},
          {"percent_of_floor", ratio(floor_ns, layer, 100)},
          {"quality", value_at(one_case, "/quality/mark")}};
}

}  // namespace

ordered_json ladders_of(const ordered_json& cases, const ordered_json& variants, const ordered_json& ceilings) {
  using Key = std::tuple<std::string, std::string, std::string, std::string, int>;
  std::vector<Key> order;
  std::map<Key, Ladder> ladders;
  for (const ordered_json& one_case : cases) {
    if (one_case.contains("counters") && !one_case.at("counters").is_null())
      continue;                                     // counted, not timed: there is nothing to compare by time
    if (one_case.contains("leaves_out")) continue;  // beside the ladder: harness/records/leave_one_out.hpp
    const Key key{one_case.at("device"), one_case.at("family"), one_case.at("network"), one_case.at("layer"),
                  one_case.at("batch")};
    if (!ladders.contains(key)) order.push_back(key);
    ladders[key].cases.push_back(&one_case);
  }
  const auto rank = [&variants](const ordered_json* one_case) {
    const auto same = [one_case](const ordered_json& variant) {
      return variant.at("family") == one_case->at("family") && variant.at("name") == one_case->at("variant");
    };
    return std::ranges::find_if(variants, same) - variants.begin();
  };
  ordered_json result = ordered_json::array();
  for (const Key& key : order) {
    Ladder& ladder = ladders[key];
    std::ranges::stable_sort(ladder.cases, {}, rank);  // cases are recorded in the order in which they end
    ordered_json rows = ordered_json::array();
    ordered_json floor = floor_json(*ladder.cases.front(), ceilings);
    const std::optional<double> floor_ns = floor.is_null() ? std::nullopt : number(floor.at("value"));
    for (const ordered_json* one_case : ladder.cases) {
      rows.push_back(row_of(*one_case, ladder, variants.at(rank(one_case)).at("builds_on"), floor_ns));
    }
    const auto& [device, family, network, layer, batch] = key;
    result.push_back({{"device", device},
                      {"family", family},
                      {"network", network},
                      {"layer", layer},
                      {"batch", batch},
                      {"kind", "measured"},
                      {"floor", std::move(floor)},
                      {"rows", std::move(rows)}});
  }
  return result;
}

}  // namespace convladder
