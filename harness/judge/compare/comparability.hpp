// Whether two recorded runs can be compared: what has to be the same, and where they differ.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/records/recorded_run.hpp"

namespace convladder {

/// Why cases on this device cannot be compared between two records, by their contexts: the device, the processor,
/// compilers and flags, sanitizers, images, seed, the settings that change what a sample is. Empty if they can.
/// Each entry is a short text, "compiler changed: GNU 12.2.0, now GNU 13.1.0".
///
/// The code of the kernels is what is compared, so their PTX may differ. Only where the compiler that made it changed
/// as well does a difference mean nothing, and reads as "CUDA compiler changed".
std::vector<std::string> context_differences(const RecordedRun& base, const RecordedRun& now,
                                             const std::string& device);

/// Why one case cannot be compared between two records: shape, input, which time was taken, and a library's version and
/// algorithm; where a run was merged from shards, also the machine that measured the case. Empty if it can.
std::vector<std::string> case_differences(const RecordedRun& base_run, const RecordedCase& base,
                                          const RecordedRun& new_run, const RecordedCase& now);

/// Differences that do not forbid a comparison and should be known: another host or kernel, kernels whose PTX changed
/// under the same compiler, runs that did not complete. One line each.
std::vector<std::string> context_notes(const RecordedRun& base, const RecordedRun& now);

}  // namespace convladder
