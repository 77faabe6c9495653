// What `convladder fused` prints: the separate operators, their sum, and the fused variant beside them.
#pragma once

#include <string>
#include <vector>

#include "harness/fused/fused_record.hpp"

namespace convladder {

/// A finished case in one line.
std::string fused_result_line(const FusedResult& result);

/// The table of one device and fused variant, and below it why cases have no figures.
std::string fused_table(const std::vector<FusedResult>& results);

}  // namespace convladder
