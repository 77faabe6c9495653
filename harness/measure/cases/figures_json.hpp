// The figures of a case as JSON: its counters, in a record and on their way from the case's process; the interval of a
// median, the time to which it belongs, the change of one, and a ratio.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/measure/cases/counters.hpp"
#include "harness/measure/statistics/change_verdict.hpp"
#include "harness/measure/statistics/ratio.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/json_place.hpp"

namespace convladder {

/// `counters` of a case in the record.
nlohmann::ordered_json counters_json(const CaseCounters& counters);
/// Reads what `counters_json` wrote. Missing counters are left out. Throws UserError.
CaseCounters read_counters(const JsonPlace& place);
/// The counters in a message, where no field may be missing.
void to_json(nlohmann::ordered_json& json, const CaseCounters& counters);
void from_json(const nlohmann::ordered_json& json, CaseCounters& counters);
/// Reads `counters.lines`; empty where there are none. Throws UserError.
std::vector<CountedLine> read_counted_lines(const JsonPlace& counters);
/// Reads `counters.kernels`: [{"kernel", "grid", "block", "values", "modelled"}, …]. Throws UserError.
std::vector<KernelCounters> read_kernels(const JsonPlace& place);

/// An interval as {"low", "high", "level"}; null for none.
nlohmann::ordered_json interval_json(const std::optional<MedianInterval>& interval);

/// A measured time as {"kind": "measured", "of", "unit": "ns", "median", "interval", "samples"}, from at least one
/// sample in nanoseconds.
nlohmann::ordered_json measured_json(std::string_view of, const std::vector<double>& samples);

/// A change as {"estimate", "low", "high"} in fractions of the base: 0.1 is 10 % more. Null for none, and for a bound
/// that is not finite.
nlohmann::ordered_json change_json(const std::optional<ChangeBounds>& change);

/// A ratio as {"value", "low", "high", "level", "by"}; null for none.
nlohmann::ordered_json ratio_json(const std::optional<Ratio>& ratio);

}  // namespace convladder
