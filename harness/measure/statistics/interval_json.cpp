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

}  // namespace convladder
