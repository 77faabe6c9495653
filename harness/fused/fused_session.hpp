// One case of `convladder fused`, run where it is: both sides in one process, on the same input, in turns.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "harness/cases/case_client.hpp"
#include "harness/cases/workload.hpp"
#include "harness/fused/fused_plan.hpp"

namespace convladder {

/// Runs the case in a process of its own, started now. It answers
///   {"do": "prepare", "problem": "integers" or "real"} -> {"choice"}: both sides, on an input that no call will see
///   {"do": "set", "change", "fill"} -> {}: writes the changed input, and the fill into both outputs
///   {"do": "call"} -> {}: call number 1 of the change, of both sides
///   {"do": "read", "fused": bool, "first", "count"} -> {}: so many elements of that side's output, into the window
///   {"do": "calibrate", "sample_ns"} -> {"separate", "fused"}: how many calls make a sample
///   {"do": "round", "separate", "fused", "fused_first": bool} -> {"separate": [ns of each step a call], "fused": ns,
///                       "last_call": {"separate", "fused"}}: one sample of each side, the calls numbered from 1. The
///                       separate operators run in turn, as in a network, each timed
///   {"do": "count"} -> {"separate": [counters of each step], "fused": counters}
/// A failure is {"status", "reason"}.
OpenCase start_fused_process(const FusedCase& planned, const Workload& workload, double timeout_seconds);

}  // namespace convladder
