// A CUDA stage of anybody under the checkers: its code runs in a process of its own, on the stand-in. So does that of a
// stage which is measured on a GPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/cases/case_outcome.hpp"
#include "harness/measure/cases/check_messages.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/verification/expectation.hpp"
#include "simulator/state/finding.hpp"

namespace convladder {

/// How a stage is looked at.
struct StageCheck {
  simulated::CheckerSet checkers;
  simulated::SchedulesWanted schedules{};  ///< orders of each launch besides the usual one
  simulated::MutantsWanted mutants{};      ///< which are listed, and which one runs
  double launch_seconds = 0;               ///< after which a kernel is ended; 0: as for anybody
  int host_threads = 0;                    ///< that execute the blocks; 0: all cores
  std::optional<double> timeout_seconds =
      std::nullopt;  ///< none: a step takes as long as it may on the simulated device (estimate.hpp)
};

class CheckedStage {
 public:
  /// The case must be one that runs, of a stage that is compiled when it runs, and outlive this, as the workload must.
  CheckedStage(const PlannedCase& planned, const Workload& workload, const StageCheck& check);

  /// Calls the stage once. Throws CaseFailure.
  void call(ProblemKind kind) const { open_.ask(to_check::Run{kind}); }
  /// Calls the stage once, and compares its results with the expected ones. Throws CaseFailure.
  Check solve(ProblemKind kind, double tolerance) const;
  /// The findings of all calls so far, each line once: a loop that the compiler unrolled has many instructions of it.
  /// And what other orders have come to since the last time. Throws CaseFailure.
  to_check::Found findings() const;

 private:
  const Workload& workload_;
  OpenSession<CheckMessages> open_;
};

/// Whether a case's code is to be looked at by the checkers where it runs: a CUDA stage that is no part of this
/// program.
bool is_to_be_checked(const PlannedCase& planned);

/// The work with which the checkers look at a case: its own, or one item of it where items are alike. Where that is too
/// much for the simulated device, the smallest of the problem's sizes for it that the stage can run; none if there is
/// none. The work of a case that is counted is executed anyway, and so it is looked at, however large it is.
std::optional<LayerWork> checked_work(const PlannedCase& planned);

/// Has all checkers look at one call of the case's stage on that work (checked_work), and in the other orders that the
/// options ask for. `at_hand` is the case's own data,
/// if they are there.
StageFindings look_at_stage(const PlannedCase& planned, const std::optional<LayerWork>& work, const ImageSet& images,
                            const RunOptions& options, const Workload* at_hand);

}  // namespace convladder
