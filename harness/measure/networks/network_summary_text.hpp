// The summary at the end of a run of networks: one table for each device, and notes of a line each. All other tables
// are in network_tables.hpp.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/networks/network_summary.hpp"

namespace convladder {

/// The share of right classes: "0.9330"; "-" without labels.
std::string accuracy_text(const NetworkOutcome& outcome);

/// The results of one device, headed by its title. Of many networks or batches only the main rows of each summary.
std::string network_summary_text(const std::vector<NetworkSummary>& summaries, const std::string& device_title,
                                 const std::string& images, std::size_t most_columns);

/// The notes, in this order: where the time goes, how sure the figures are, classes and accuracy, failures, cases that
/// were not run. All reasons of cases that were not run only for `all`.
std::vector<std::string> network_notes(const std::vector<NetworkResult>& results,
                                       const std::vector<NetworkSummary>& summaries, bool all);

}  // namespace convladder
