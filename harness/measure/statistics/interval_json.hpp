// The interval of a median, the time to which it belongs, and the change of one, as in records and reports.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/measure/statistics/change_verdict.hpp"
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

/// A change as {"estimate", "low", "high"} in fractions of the base: 0.1 is 10 % more. Null for none, and for a bound
/// that is not finite.
inline nlohmann::ordered_json change_json(const std::optional<ChangeBounds>& change) {
  if (!change) return nullptr;
  const auto part = [](double logarithm) {
    return std::isfinite(logarithm) ? nlohmann::ordered_json(std::expm1(logarithm)) : nlohmann::ordered_json();
  };
  return {{"estimate", part(change->estimate)}, {"low", part(change->low)}, {"high", part(change->high)}};
}

}  // namespace convladder
