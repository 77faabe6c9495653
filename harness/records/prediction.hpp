// `prediction` of a case in the record: how long its kernels would take on each named GPU, by
// devices/gpus/time_model.hpp.
//
// It is computed from the case's counters and ptxas's report, both in the record. Nothing here is measured, and
// nothing is gated by it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace convladder {

/// From `counters` and `resources` of a case as the record has them. Null if the counters are null.
/// Where no resources are given, occupancy is of threads alone, and the range is wider.
nlohmann::ordered_json prediction_json(const nlohmann::ordered_json& counters, const nlohmann::ordered_json& resources);

}  // namespace convladder
