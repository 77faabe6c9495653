// A group of cases measured side by side: interleaved in a seeded random order, so that drift hits all alike.
#pragma once

#include <functional>
#include <optional>

#include "harness/measure/cases/measurement.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// Called when a case has come to its end, in the order they end.
using CaseFinished = std::function<void(const PlannedCase&, const CaseOutcome&)>;
/// Called when a phase of a case begins: "verifying" or "measuring".
using PhaseStarted = std::function<void(const PlannedCase&, const char* phase)>;

/// Says why the times of a verified case are not published; none if they are.
using RefuseTimes = std::function<std::optional<Refusal>(const PlannedCase&, const CaseOutcome&)>;

/// Called after each round of samples, while no case works.
using RoundEnded = std::function<void()>;

/// Runs all cases of `cases`, which share `workload`. As many as fit the memory are interleaved at a time. The caller
/// asks beforehand whether there is room for one alone (why_no_room).
void run_group(const std::vector<PlannedCase>& cases, const Workload& workload, const RunOptions& options,
               const CaseFinished& finished, const PhaseStarted& phase_started, const RoundEnded& round_ended,
               const RefuseTimes& refuse_times);

}  // namespace convladder
