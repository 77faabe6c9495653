// The record of a run of whole networks: network.json, complete and readable at every moment.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/networks/network_case.hpp"
#include "harness/records/record_folder.hpp"
#include "network/weights.hpp"

namespace convladder {

/// A case at its end, as in the record.
nlohmann::ordered_json network_case_json(const NetworkCase& planned, const NetworkOutcome& outcome);

class NetworkRecord {
 public:
  /// Creates the folder; throws UserError if it cannot, if it holds such a record already, or if another program
  /// writes into it.
  NetworkRecord(const std::filesystem::path& folder, const NetworkOptions& options,
                const std::vector<std::string>& command_line, const std::vector<NetworkCase>& plan,
                const ImageSet& images);

  /// Says what a network is and which weights it has, before its first case.
  void add_network(const Network& network, const NetworkWeights& weights);
  /// Adds a finished case and writes the file.
  void add(const NetworkCase& planned, const NetworkOutcome& outcome);
  void complete();

  const std::filesystem::path& file() const { return file_.path(); }
  const nlohmann::ordered_json& json() const { return json_; }

 private:
  void write();

  RecordFile file_;
  nlohmann::ordered_json json_;
};

}  // namespace convladder
