// Starts cases, each in a process of its own or here.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/cases/case_messages.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/isolation/child_process.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// Runs the case in a process of its own, started now; it answers as CaseSession does. A case that crashes ends as
/// "crashed", one that takes longer than `timeout_seconds` for a request is killed and ends as "timeout". `program` is
/// this one or another build that speaks the same protocol (case_protocol.hpp).
OpenCase start_case_process(const PlannedCase& planned, const Workload& workload,
                            const std::vector<std::string>& google_benchmark_flags, double timeout_seconds,
                            const std::string& program = kThisProgram);

/// Runs the case in this process, for debuggers and profilers: nothing protects from a crash or a hang.
OpenCase start_case_here(const PlannedCase& planned, const Workload& workload);

}  // namespace convladder
