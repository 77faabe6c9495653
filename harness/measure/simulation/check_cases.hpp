// Planned cases on the simulated device under its checkers.
#pragma once

#include <vector>

#include "harness/measure/plan/plan.hpp"
#include "harness/measure/simulation/checked_case.hpp"

namespace convladder {

/// Checks all cases of a group that the settings select, from every compiler's PTX, on all cores; libraries, which have
/// no PTX, are left out.
std::vector<CheckedCase> check_group(const CaseGroup& group, const CheckSettings& settings);

}  // namespace convladder
