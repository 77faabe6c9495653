// A case's counters as JSON: in a record, and on their way from the case's process.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "harness/measure/cases/counters.hpp"
#include "support/json_place.hpp"

namespace convladder {

/// `counters` of a case in the record.
nlohmann::ordered_json counters_json(const CaseCounters& counters);
/// Reads what `counters_json` wrote. Missing counters are left out. Throws UserError.
CaseCounters read_counters(const JsonPlace& place);
/// Reads `counters.kernels`: [{"kernel", "grid", "block", "values", "modelled"}, …]. Throws UserError.
std::vector<KernelCounters> read_kernels(const JsonPlace& place);

}  // namespace convladder
