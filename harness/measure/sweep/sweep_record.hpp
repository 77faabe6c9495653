// The contents of sweep.json, the record of a parameter sweep.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/records/record.hpp"
#include "harness/measure/sweep/sweep.hpp"

namespace convladder {

/// The id of a configuration's case: the sweep's id, and the configuration.
std::string configuration_id(const Sweep& sweep, const Configuration& configuration);
std::vector<std::string> planned_ids(const std::vector<Sweep>& sweeps);

/// A configuration that was run, as in the record. `planned` is its case.
nlohmann::ordered_json configuration_json(const Sweep& sweep, const PlannedCase& planned, const CaseOutcome& outcome);
/// Fills everything except the configuration from a recorded case. Throws UserError.
void read_back(const JsonPlace& one_case, SweptConfiguration& one);
/// Adds a configuration that was run to the record, and fills everything except the configuration of `one`. `planned`
/// is its case.
void add_configuration(Record& record, const Sweep& sweep, const PlannedCase& planned, const CaseOutcome& outcome,
                       SweptConfiguration& one);

/// Fills the sweeps that are recorded. Throws UserError.
void read_back(const Record& record, std::vector<Sweep>& sweeps);
/// Throws UserError where a case cannot be read back (Record::open).
void check_sweep_record(const nlohmann::ordered_json& record, const std::string& file);

/// The contents of the record from the start.
RecordContent sweep_content(const SweepOptions& options, const std::vector<std::string>& command_line,
                            const ImageSet& images, const std::vector<Sweep>& sweeps);
/// Completes the record with its `sweeps`, derived from all its cases.
void complete_sweep_record(Record& record, const std::vector<Sweep>& sweeps);

}  // namespace convladder
