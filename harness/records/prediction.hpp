// `prediction` of a case in the record: how long its kernels would take on each named GPU, by
// devices/gpus/time_model.hpp.
//
// It follows from the case's counters and from what ptxas reported, both in the record: nothing here is measured, and
// nothing is gated by it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace convladder {

/// From `counters` and `resources` of a case as the record has them. Null if the counters are null.
/// Where no resources are given, occupancy is of threads alone, and the range is wider.
nlohmann::ordered_json prediction_json(const nlohmann::ordered_json& counters, const nlohmann::ordered_json& resources);

}  // namespace convladder
