// What a run of networks ends in: one table for each device, and what is worth knowing in a line each. All other tables
// are in network_tables.hpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/measure/networks/network_story.hpp"

namespace convladder {

/// The results of one device, its title in front. Of many networks or batches only what each story tells first.
std::string network_summary(const std::vector<NetworkStory>& stories, const std::string& device_title,
                            const std::string& images, std::size_t most_columns);

/// In this order: where the time goes, how sure the figures are, classes and accuracy, what failed, what was not run.
/// All reasons of cases that were not run only for `all`.
std::vector<std::string> network_notes(const std::vector<NetworkResult>& results,
                                       const std::vector<NetworkStory>& stories, bool all);

}  // namespace convladder
