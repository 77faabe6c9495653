// The contents of sweep.json, the record of a parameter sweep.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/measure/records/record.hpp"
#include "harness/measure/sweep/sweep.hpp"

namespace convladder {

/// The id of a configuration's case: the sweep's id, and the configuration.
std::string configuration_id(const Sweep& sweep, const Configuration& configuration);
std::vector<std::string> planned_ids(const std::vector<Sweep>& sweeps);

/// `cases[]` of the record: a configuration that was run. `planned` is its case.
nlohmann::ordered_json configuration_json(const Sweep& sweep, const PlannedCase& planned, const CaseOutcome& outcome);

/// Fills everything except the configuration from a recorded case. Throws UserError.
void read_back(const JsonPlace& one_case, SweptConfiguration& one);
/// Fills the sweeps that are recorded. Throws UserError.
void read_back(const Record& record, std::vector<Sweep>& sweeps);
/// Throws UserError where a case cannot be read back (Record::open).
void check_sweep_record(const nlohmann::ordered_json& record, const std::string& file);

/// `sweeps[]` of the record, derived from all its cases.
nlohmann::ordered_json sweeps_json(const std::vector<Sweep>& sweeps);

}  // namespace convladder
