// The interval of a median, the time to which it belongs, and the change of one, as in records and reports.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/measure/statistics/change_verdict.hpp"
#include "harness/measure/statistics/statistics.hpp"

namespace convladder {

/// An interval as {"low", "high", "level"}; null for none.
nlohmann::ordered_json interval_json(const std::optional<MedianInterval>& interval);

/// A measured time as {"kind": "measured", "of", "unit": "ns", "median", "interval", "samples"}, from at least one
/// sample in nanoseconds.
nlohmann::ordered_json measured_json(std::string_view of, const std::vector<double>& samples);

/// A change as {"estimate", "low", "high"} in fractions of the base: 0.1 is 10 % more. Null for none, and for a bound
/// that is not finite.
nlohmann::ordered_json change_json(const std::optional<ChangeBounds>& change);

}  // namespace convladder
