// The harness's side of a case: it asks, and gets an answer or a status, whatever the case does.
#pragma once

#include <memory>

#include "harness/child_process.hpp"
#include "harness/plan.hpp"
#include "harness/workload.hpp"

namespace convladder {

/// Runs the case in a process of its own, started now; it answers as CaseSession::answer does. A case that crashes
/// answers {"status": "crashed"}, one that takes longer than `timeout_seconds` for a request is killed and answers
/// {"status": "timeout"}. `program` is this one or another build that speaks the same protocol (case_protocol.hpp).
std::unique_ptr<CaseClient> start_case_process(const PlannedCase& planned, const Workload& workload,
                                               const RunOptions& options, double timeout_seconds,
                                               const std::string& program = kThisProgram);

/// Runs the case in this process, for debuggers and profilers: nothing protects from a crash or a hang.
std::unique_ptr<CaseClient> start_case_here(const PlannedCase& planned, const Workload& workload);

/// The other end of `start_case_process`: serves one case on a socket until it is closed. Returns the exit code.
int serve_case(int socket_descriptor, int workload_descriptor);

}  // namespace convladder
