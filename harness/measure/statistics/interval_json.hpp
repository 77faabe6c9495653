// The interval of a median, and the time to which it belongs, as in records and reports.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/measure/statistics/statistics.hpp"

namespace convladder {

/// An interval as {"low", "high", "level"}; null for none.
nlohmann::ordered_json interval_json(const std::optional<MedianInterval>& interval);

/// A measured time as {"kind": "measured", "of", "unit": "ns", "median", "interval", "samples"}, from at least one
/// sample in nanoseconds.
nlohmann::ordered_json measured_json(std::string_view of, const std::vector<double>& samples);

}  // namespace convladder
