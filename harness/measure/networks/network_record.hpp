// The contents of network.json, the record of a run of whole networks.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/measure/networks/network_case.hpp"
#include "harness/measure/records/record.hpp"

namespace convladder {

/// A case at its end, as in the record.
nlohmann::ordered_json network_case_json(const NetworkCase& planned, const NetworkOutcome& outcome);
/// Reads a case from the record, as far as tables show it: nothing of its profile. Throws UserError.
NetworkOutcome network_outcome_of(const JsonPlace& one_case);

struct NetworkResult {
  NetworkCase planned;
  NetworkOutcome outcome;
};

/// The planned cases that are in the record, read back.
std::vector<NetworkResult> recorded_results(const std::vector<NetworkCase>& plan, const Record& record);

/// Throws UserError where a case in the record cannot be read back (Record::open).
void check_network_record(const nlohmann::ordered_json& record, const std::string& file);

/// A network with cases in the record, and its weights.
struct RecordedNetwork {
  const Network* network = nullptr;
  std::string weights;      ///< the name of the weights
  std::string sha256;       ///< of the weights' file; empty without one
  WeightsStory story = {};  ///< what the weights' file says about them
  std::string note = {};    ///< `story` in one line, or why there is no accuracy
};

/// The fields that tell network.json from other records, before its cases; `cases` are the plan.
Record::Fields network_fields(const std::vector<NetworkCase>& cases, const std::vector<RecordedNetwork>& networks);

/// The ids of all cases of a plan.
std::vector<std::string> planned_ids(const std::vector<NetworkCase>& plan);

}  // namespace convladder
