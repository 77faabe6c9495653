// The results of network runs as tables of at most 100 columns: op times and accuracy, program time, where the time
// goes, and other people's published figures.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "harness/measure/networks/network_record.hpp"

namespace convladder {

/// One line for a case that has just ended.
std::string network_result_line(const NetworkResult& result);

/// All tables of the results of one network. `weights` and `images` are their names.
std::string network_tables(const std::vector<NetworkResult>& results, const std::string& weights,
                           const std::string& images);

}  // namespace convladder
