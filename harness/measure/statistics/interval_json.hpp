// The interval of a median, and the time to which it belongs, as in records and reports.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/measure/statistics/statistics.hpp"

namespace convladder {

/// An interval as {"low", "high", "level"}; null for none.
inline nlohmann::ordered_json interval_json(const std::optional<MedianInterval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}, {"level", interval->level}};
}

/// A measured time as {"kind": "measured", "of", "unit": "ns", "median", "interval", "samples"}, from at least one
/// sample in nanoseconds.
inline nlohmann::ordered_json measured_json(std::string_view of, const std::vector<double>& samples) {
  return {{"kind", "measured"},
          {"of", of},
          {"unit", "ns"},
          {"median", median(samples)},
          {"interval", interval_json(median_interval(samples))},
          {"samples", samples}};
}

}  // namespace convladder
