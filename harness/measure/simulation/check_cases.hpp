// The cases of `convladder check`: kernels from one compiler's PTX on the simulated device under its checkers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/cases/workload.hpp"
#include "harness/measure/isolation/status.hpp"
#include "harness/measure/plan/plan.hpp"
#include "simulator/device/simulated_device.hpp"
#include "support/text_pattern.hpp"

namespace convladder {

struct CheckedCase {
  std::string id;
  std::string compiler;          ///< the compiler of the PTX: "nvcc" or "clang"
  std::optional<Status> status;  ///< as for a case in a run; none before it is run
  std::string reason;
  std::vector<simulated::Finding> findings;
  simulated::OrdersTried orders{};                     ///< of all its launches
  std::optional<double> largest_error = std::nullopt;  ///< |error| / magnitude of the result for real numbers
  double tolerance = 0;                                ///< the largest `largest_error` that passes
  simulated::MutantsSeen mutants{};                    ///< what the settings ask for

  bool was_run() const { return status && *status != Status::unsupported && *status != Status::skipped; }
  bool passed() const { return status == Status::ok || status == Status::unsupported; }
};

/// How cases are checked, and which.
struct CheckSettings {
  simulated::CheckerSet checkers;
  simulated::SchedulesWanted schedules{};
  simulated::TensorCores tensor_cores = simulated::TensorCores::rounding;
  simulated::MutantsWanted mutants{};
  double launch_seconds = 0;  ///< after which a kernel is ended; 0: as for anybody
  TextPattern ids;            ///< of the cases that are selected
  bool dry_run = false;       ///< cases are named but not run
};

/// The cases of a group that the settings select, from every compiler's PTX; libraries, which have no PTX, are left
/// out.
class CheckedGroup {
 public:
  /// `group` must outlive it.
  CheckedGroup(const CaseGroup& group, const CheckSettings& settings);

  /// The cases, none of them run.
  const std::vector<CheckedCase>& cases() const { return cases_; }
  /// Runs one case. May be called by several threads at a time.
  CheckedCase check(std::size_t index, const CheckSettings& settings) const;

 private:
  std::vector<CheckedCase> cases_;
  std::vector<const PlannedCase*> plan_;
  std::optional<Workload> workload_;
};

/// Checks all cases of a group, on all cores.
std::vector<CheckedCase> check_group(const CaseGroup& group, const CheckSettings& settings);

/// The case as text: a line, and one for each finding and for the reason of a case that was run.
std::string case_lines(const CheckedCase& checked);

}  // namespace convladder
