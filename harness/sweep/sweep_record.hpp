// What sweep.json, the record of a parameter sweep, holds.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/sweep/sweep.hpp"

namespace convladder {

/// A configuration's case: the sweep's id, and which configuration.
std::string configuration_id(const Sweep& sweep, const Configuration& configuration);
std::vector<std::string> planned_ids(const std::vector<Sweep>& sweeps);

/// `cases[]` of the record: a configuration that was run.
nlohmann::ordered_json configuration_json(const Sweep& sweep, const SweptConfiguration& one);

/// `sweeps[]` of the record, derived from all its cases.
nlohmann::ordered_json sweeps_json(const std::vector<Sweep>& sweeps);

}  // namespace convladder
