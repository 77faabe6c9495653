// A stage of a folder under the checkers: its code runs in a process of its own, on the stand-in.
#pragma once

#include "harness/measure/cases/workload.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/simulation/check_cases.hpp"

namespace convladder {

/// Runs the stage on real numbers and on small whole ones; fills in status, reason and findings. The case must be one
/// that runs.
void check_stage(CheckedCase& checked, const PlannedCase& planned, const Workload& workload,
                 const CheckSettings& settings);

}  // namespace convladder
