// One case of `convladder fused`, run where it is: both sides in one process, on the same input, in turns.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "harness/child_process.hpp"
#include "harness/fused_plan.hpp"
#include "harness/workload.hpp"

namespace convladder {

/// Runs the case in a process of its own, started now. It answers
///   {"do": "verify"} -> {"integers", "separate", "fused": StepCheck::to_json, "choice"}: the fused variant on small
///                       integers, then both sides on the real input against the float64 chain
///   {"do": "calibrate", "sample_ns"} -> {"separate", "fused"}: how many calls make a sample
///   {"do": "round", "separate", "fused", "fused_first": bool} -> {"separate": [ns of each step a call], "fused": ns}:
///                       one sample of each side. The separate operators run in turn, as in a network, each timed
///   {"do": "count"} -> {"separate": [counters of each step], "fused": counters}
/// A failure is {"status", "reason"}.
std::unique_ptr<CaseClient> start_fused_process(const FusedCase& planned, const Workload& workload,
                                                double timeout_seconds);

/// The other end of `start_fused_process`. Returns the exit code.
int serve_fused(int socket_descriptor, int workload_descriptor);

}  // namespace convladder
