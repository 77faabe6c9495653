#include "harness/records/ladder.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/cases/case_session.hpp"
#include "harness/cases/floor.hpp"
#include "support/json_null.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// Median of NCHW in to NCHW out: the case's own time, or the one beside its op time.
std::optional<double> layer_median(const CaseFigures& one_case) {
  if (!one_case.time) return std::nullopt;
  if (one_case.time->of == time_of::kLayer) return one_case.time->median;
  for (const TimeFigure& other : one_case.other_times) {
    if (other.of == time_of::kLayer && other.cache != "cold") return other.median;
  }
  return std::nullopt;
}

/// Median of the convolution alone in a layout of its own; none for a case that works in NCHW.
std::optional<double> op_median(const CaseFigures& one_case) {
  return one_case.time && one_case.time->of == time_of::kOp ? std::optional(one_case.time->median) : std::nullopt;
}

ordered_json ratio(std::optional<double> numerator, std::optional<double> denominator, double scale = 1) {
  if (!numerator || !denominator || !(*denominator > 0)) return nullptr;
  return scale * *numerator / *denominator;
}

/// The cases of one ladder, in ladder order.
struct Ladder {
  std::vector<const CaseFigures*> cases;

  std::optional<double> layer_median_of(const std::string& variant) const {
    for (const CaseFigures* one_case : cases) {
      if (one_case->variant == variant) return layer_median(*one_case);
    }
    return std::nullopt;
  }
  /// Of the lowest rung.
  std::optional<double> baseline() const { return cases.front()->rung ? layer_median(*cases.front()) : std::nullopt; }
  /// By its layer time, or by its op time, of those that are at least as accurate as the case: a library in tf32 is no
  /// ceiling of a stage in fp32.
  std::optional<double> fastest_library(const CaseFigures& compared,
                                        std::optional<double> (*time_of_case)(const CaseFigures&)) const {
    std::optional<double> fastest;
    for (const CaseFigures* one_case : cases) {
      if (one_case->rung || one_case->tolerance > compared.tolerance) continue;
      const std::optional<double> time = time_of_case(*one_case);
      if (time && (!fastest || *time < *fastest)) fastest = time;
    }
    return fastest;
  }
};

ordered_json row_of(const CaseFigures& one_case, const Ladder& ladder, const std::string& builds_on,
                    std::optional<double> floor_ns) {
  const std::optional<TimeFigure>& time = one_case.time;
  const std::optional<double> median = time ? std::optional(time->median) : std::nullopt;
  const std::optional<double> layer = layer_median(one_case);
  return {{"case", one_case.id},
          {"variant", one_case.variant},
          {"rung", or_null(one_case.rung)},
          {"of", time ? ordered_json(time->of) : ordered_json()},
          {"status", one_case.status},
          {"median_ns", or_null(median)},
          {"low_ns", time ? or_null(time->low) : ordered_json()},
          {"high_ns", time ? or_null(time->high) : ordered_json()},
          {"gflop_per_s", ratio(one_case.flop, median)},
          {"layer_median_ns", or_null(layer)},
          {"x_previous", builds_on.empty() ? ordered_json() : ratio(ladder.layer_median_of(builds_on), layer)},
          {"x_baseline", ratio(ladder.baseline(), layer)},
          {"percent_of_library", ratio(ladder.fastest_library(one_case, layer_median), layer, 100)},
          {"percent_of_library_op", ratio(ladder.fastest_library(one_case, op_median), layer, 100)},
          {"percent_of_floor", ratio(floor_ns, layer, 100)},
          {"quality", text_or_null(one_case.quality)}};
}

/// The place of the case's variant among these, which are in ladder order.
std::size_t rank_of(const CaseFigures& one_case, const std::vector<VariantFigures>& variants) {
  const auto found = std::ranges::find_if(variants, [&one_case](const VariantFigures& variant) {
    return variant.family == one_case.family && variant.name == one_case.variant;
  });
  return static_cast<std::size_t>(found - variants.begin());
}

ordered_json ladder_json(const Ladder& ladder, const std::vector<VariantFigures>& variants,
                         const ordered_json& ceilings) {
  const CaseFigures& first = *ladder.cases.front();
  ordered_json floor = first.shape ? floor_json(*first.shape, first.device, ceilings) : ordered_json();
  const std::optional<double> floor_ns =
      floor.is_null() ? std::nullopt : std::optional(floor.at("value").get<double>());
  ordered_json rows = ordered_json::array();
  for (const CaseFigures* one_case : ladder.cases) {
    rows.push_back(row_of(*one_case, ladder, variants.at(rank_of(*one_case, variants)).builds_on, floor_ns));
  }
  return {{"device", first.device}, {"family", first.family}, {"network", first.network},  {"layer", first.layer},
          {"batch", first.batch},   {"kind", "measured"},     {"floor", std::move(floor)}, {"rows", std::move(rows)}};
}

}  // namespace

ordered_json ladders_of(const std::vector<CaseFigures>& cases, const std::vector<VariantFigures>& variants,
                        const ordered_json& ceilings) {
  std::vector<Ladder> ladders;
  std::map<decltype(cases.front().place()), std::size_t> by_place;
  for (const CaseFigures& one_case : cases) {
    if (one_case.counters) continue;             // counted, not timed: there is nothing to compare by time
    if (!one_case.leaves_out.empty()) continue;  // beside the ladder: harness/records/leave_one_out.hpp
    const auto [place, is_new] = by_place.emplace(one_case.place(), ladders.size());
    if (is_new) ladders.emplace_back();
    ladders[place->second].cases.push_back(&one_case);
  }
  const auto rank = [&variants](const CaseFigures* one_case) { return rank_of(*one_case, variants); };
  ordered_json result = ordered_json::array();
  for (Ladder& ladder : ladders) {
    std::ranges::stable_sort(ladder.cases, {}, rank);  // cases are recorded in the order in which they end
    result.push_back(ladder_json(ladder, variants, ceilings));
  }
  return result;
}

}  // namespace convladder
