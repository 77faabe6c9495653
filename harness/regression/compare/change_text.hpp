// A change of a time as people and programs read it: what `compare` and `duel` print alike.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/statistics/change_verdict.hpp"
#include "support/units.hpp"

namespace convladder {

/// Of a logarithm of a ratio.
inline double percent(double logarithm) { return std::expm1(logarithm) * 100; }

/// "1.23 ms"; empty for none.
inline std::string time_or_blank(const std::optional<double>& nanoseconds) {
  return nanoseconds ? time_text(*nanoseconds) : std::string();
}

/// "+3.1", and "+1.2 to +4.9": percent; empty for none.
inline std::string change_text(const std::optional<ChangeBounds>& change) {
  return change ? fmt::format("{:+.1f}", percent(change->estimate)) : std::string();
}
inline std::string bounds_text(const std::optional<ChangeBounds>& change) {
  return change ? fmt::format("{:+.1f} to {:+.1f}", percent(change->low), percent(change->high)) : std::string();
}

/// {"estimate", "low", "high"} as fractions of the base: 0.1 is 10 % more. Null for none, and for a bound that is not
/// finite.
inline nlohmann::ordered_json change_json(const std::optional<ChangeBounds>& change) {
  if (!change) return nullptr;
  const auto part = [](double logarithm) {
    return std::isfinite(logarithm) ? nlohmann::ordered_json(std::expm1(logarithm)) : nlohmann::ordered_json();
  };
  return {{"estimate", part(change->estimate)}, {"low", part(change->low)}, {"high", part(change->high)}};
}

}  // namespace convladder
