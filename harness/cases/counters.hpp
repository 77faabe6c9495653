// Counters of a case in the record.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "devices/device.hpp"

namespace convladder {

/// `counters` of a case in the record, for all of its batch.
nlohmann::ordered_json counters_json(const std::vector<KernelCounters>& kernels, int batch, bool exact = true);

}  // namespace convladder
