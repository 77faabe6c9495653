// What network.json, the record of a run of whole networks, holds.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/measure/networks/network_case.hpp"
#include "harness/measure/records/record.hpp"

namespace convladder {

/// A case at its end, as in the record.
nlohmann::ordered_json network_case_json(const NetworkCase& planned, const NetworkOutcome& outcome);
/// The reverse, as far as tables show it: nothing of its profile. Throws UserError.
NetworkOutcome network_outcome_of(const JsonPlace& one_case);

struct NetworkResult {
  NetworkCase planned;
  NetworkOutcome outcome;
};

/// The planned cases that are recorded, read back so.
std::vector<NetworkResult> recorded_results(const std::vector<NetworkCase>& plan, const Record& record);

/// Throws UserError where a case cannot be read back (Record::open).
void check_network_record(const nlohmann::ordered_json& record, const std::string& file);

/// A network that cases of the record are of, and its weights.
struct RecordedNetwork {
  const Network* network = nullptr;
  std::string weights;      ///< their name
  std::string sha256;       ///< of their file; empty without one
  WeightsStory story = {};  ///< what they say of themselves
  std::string note = {};    ///< the same in one line, or why there is no accuracy
};

/// What tells network.json from other records, before its cases; `cases` are the plan.
Record::Fields network_fields(const std::vector<NetworkCase>& cases, const std::vector<RecordedNetwork>& networks);

/// A case's id as planned; all of a plan.
std::vector<std::string> planned_ids(const std::vector<NetworkCase>& plan);

}  // namespace convladder
