// The contents of network.json, the record of a run of whole networks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/networks/network_case.hpp"
#include "harness/measure/profile/profile_text.hpp"
#include "harness/measure/records/record.hpp"

namespace convladder {

struct NetworkSummary;

/// A case at its end, as in the record.
nlohmann::ordered_json network_case_json(const NetworkCase& planned, const NetworkOutcome& outcome);
/// Adds a case at its end to the record.
void add_network_case(Record& record, const NetworkCase& planned, const NetworkOutcome& outcome);
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
  std::string weights;        ///< the name of the weights
  std::string sha256;         ///< of the weights' file; empty without one
  WeightsOrigin origin = {};  ///< what the weights' file says about them
  std::string note = {};      ///< `origin` in one line, or why there is no accuracy
};

/// The contents of the record from the start; `plan` are its cases.
RecordContent network_content(const NetworkOptions& options, const std::vector<std::string>& command_line,
                              const ImageSet& images, const std::vector<NetworkCase>& plan,
                              const std::vector<RecordedNetwork>& networks);

/// Completes the record with its `summaries`.
void complete_network_record(Record& record, const std::vector<NetworkSummary>& summaries);

/// The profiles in a network.json, of the cases whose ids match the pattern of --case. Throws UserError if it is not a
/// record of networks, and if no profile is left.
std::vector<TitledProfile> recorded_profiles(const std::string& file, const std::string& filter);

}  // namespace convladder
