// Counters of a case in the record: written, and read back.
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

/// Figures by the profiler's names of them.
using CounterValues = std::vector<std::pair<std::string, double>>;

/// None where it is not among them.
std::optional<double> counter_of(const CounterValues& counters, std::string_view name);
/// None unless all of them are there.
std::optional<double> sum_of(const CounterValues& counters, std::span<const char* const> names);

/// What was counted of a case, as its record has it.
struct CountedFigures {
  CounterValues totals;
  CounterValues modelled;
  std::vector<KernelCounters> kernels;
};

/// `counters` of a case. What is missing is empty. Throws UserError.
CountedFigures read_counters(const JsonPlace& place);
/// `counters.kernels`: [{"kernel", "grid", "block", "values", "modelled"}, …]. Throws UserError.
std::vector<KernelCounters> read_kernels(const JsonPlace& place);

/// `counters` of a case in the record, for all of its batch.
nlohmann::ordered_json counters_json(const std::vector<KernelCounters>& kernels, int batch, bool exact = true);

}  // namespace convladder
