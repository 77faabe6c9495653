// Whether two recorded runs can be compared: what has to be the same, and what differs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/measure/records/recorded_run.hpp"

namespace convladder {

/// Why cases on this device cannot be compared between two records, by their contexts: the device, the processor,
/// compilers and flags, sanitizers, images, seed, the settings that change what a sample is. Empty if they can.
/// Each entry is a short text, "compiler changed: GNU 12.2.0, now GNU 13.1.0".
///
/// The kernels' code is what is compared, so its PTX may differ. Only where the compiler that made it changed as well
/// does a difference say nothing, and reads as "CUDA compiler changed".
std::vector<std::string> context_differences(const RecordedRun& base, const RecordedRun& now,
                                             const std::string& device);

/// The same for one case: shape, input, which time was taken, and a library's version and algorithm; where a run was
/// merged of shards, also the machine that measured the case.
std::vector<std::string> case_differences(const RecordedRun& base_run, const RecordedCase& base,
                                          const RecordedRun& new_run, const RecordedCase& now);

/// Of a record's context only what these functions look at, with the commit and the date: enough to be compared later.
nlohmann::ordered_json comparable_context(const RecordedRun& run);

/// What does not forbid a comparison and should be known: another host or kernel, kernels whose PTX changed under the
/// same compiler, runs that did not complete. One line each.
std::vector<std::string> context_notes(const RecordedRun& base, const RecordedRun& now);

}  // namespace convladder
