// One case of `convladder check`: kernels from one compiler's PTX, run under the checkers, and the outcome.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/isolation/status.hpp"
#include "simulator/device/simulated_device.hpp"
#include "support/text_pattern.hpp"

namespace convladder {

constexpr std::uint64_t kCheckSeed = 1;  ///< of images and weights

struct CheckedCase {
  std::string id;
  std::string compiler;          ///< the compiler of the PTX: "nvcc" or "clang"
  std::optional<Status> status;  ///< as for a case in a run; none before it is run
  std::string reason;
  std::vector<simulated::Finding> findings;
  std::optional<double> largest_error = std::nullopt;  ///< |error| / magnitude of the result for real numbers
  double tolerance = 0;                                ///< the largest `largest_error` that passes

  bool was_run() const { return status && *status != Status::unsupported && *status != Status::skipped; }
  bool passed() const { return (status == Status::ok || status == Status::unsupported) && findings.empty(); }
};

/// How cases are checked, and which.
struct CheckSettings {
  simulated::CheckerSet checkers;
  simulated::TensorCores tensor_cores = simulated::TensorCores::rounding;
  TextPattern ids;       ///< of the cases that are selected
  bool dry_run = false;  ///< cases are named but not run
};

/// Runs a case on a device of its own; `work` returns what was wrong with the results, empty if nothing was. Fills in
/// status, reason and findings, each once, including those of memory that was not freed.
void run_checked(CheckedCase& checked, const CheckSettings& settings,
                 const std::function<std::string(simulated::SimulatedDevice&)>& work);

nlohmann::ordered_json case_json(const CheckedCase& checked);
/// The case as text: a line, and one for each finding and for the reason of a case that was run.
std::string case_lines(const CheckedCase& checked);

}  // namespace convladder
