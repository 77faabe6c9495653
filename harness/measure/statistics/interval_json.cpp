#include "harness/measure/statistics/interval_json.hpp"

#include <nlohmann/json.hpp>

namespace convladder {

using nlohmann::ordered_json;

ordered_json interval_json(const std::optional<MedianInterval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}, {"level", interval->level}};
}

ordered_json measured_json(std::string_view of, const std::vector<double>& samples) {
  return {{"kind", "measured"},
          {"of", of},
          {"unit", "ns"},
          {"median", median(samples)},
          {"interval", interval_json(median_interval(samples))},
          {"samples", samples}};
}

ordered_json change_json(const std::optional<ChangeBounds>& change) {
  if (!change) return nullptr;
  const auto part = [](double logarithm) {
    return std::isfinite(logarithm) ? ordered_json(std::expm1(logarithm)) : ordered_json();
  };
  return {{"estimate", part(change->estimate)}, {"low", part(change->low)}, {"high", part(change->high)}};
}

}  // namespace convladder
