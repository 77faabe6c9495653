// A case's counters in the record: written, and read back.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devices/device.hpp"
#include "support/json_place.hpp"

namespace convladder {

/// Counter values by the profiler's names for them.
using CounterValues = std::vector<std::pair<std::string, double>>;

/// The counter of that name; none where it is not there.
std::optional<double> counter_of(const CounterValues& counters, std::string_view name);
/// The sum of the counters of these names; none unless all of them are there.
std::optional<double> sum_of(const CounterValues& counters, std::span<const char* const> names);

/// The counters of a case, as its record has them.
struct CountedFigures {
  CounterValues totals;
  CounterValues modelled;
  std::vector<KernelCounters> kernels;
};

/// Reads `counters` of a case. Missing counters are left out. Throws UserError.
CountedFigures read_counters(const JsonPlace& place);
/// Reads `counters.kernels`: [{"kernel", "grid", "block", "values", "modelled"}, …]. Throws UserError.
std::vector<KernelCounters> read_kernels(const JsonPlace& place);

/// `counters` of a case in the record, for all of its batch.
nlohmann::ordered_json counters_json(const std::vector<KernelCounters>& kernels, int batch, bool exact = true);

}  // namespace convladder
