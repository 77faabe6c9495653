// A duel: two builds of this program, or two variants of it, measured in turns and judged case by case.
// docs/use/duel.md
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/duel/duel_decision.hpp"
#include "harness/judge/duel/duel_round.hpp"
#include "harness/judge/duel/duel_side.hpp"
#include "harness/measure/cases/case_protocol.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/options.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// The two sides of a comparison: the same variant of two builds, or two variants.
struct DuelPair {
  std::string id;  ///< the case's; with two variants "cpu/A..B/lenet72.conv2/100"
  std::string base_variant;
  std::string new_variant;
  PlannedCase base;
  PlannedCase now;
  CaseVerdict verdict = CaseVerdict::inconclusive;  ///< missing, new, skipped: not measured
  std::string reason;                               ///< the reason for such a verdict
  bool runs() const { return reason.empty(); }
};

/// Pairs that share layer, batch and device, and thus one workload.
struct DuelGroup {
  LayerWork work;
  std::string device;
  std::vector<DuelPair> pairs;
};

struct DuelSettings {
  DuelLimits limits;
  std::uint64_t seed = 1;
  std::optional<double> timeout_seconds;  ///< the limit for every step of a case
  int extra_percent = 0;                  ///< work added to the new side
  double wait_until_quiet_seconds = 0;    ///< at most, before each group of cases
};

/// The result of a pair.
struct DuelCase {
  std::string id;
  std::string device;
  std::string base_variant;
  std::string new_variant;
  std::string group;  ///< "lenet72.conv2, batch 100, on cpu"
  CaseVerdict verdict = CaseVerdict::inconclusive;
  std::string reason;
  SlotLength length;
  std::vector<DuelRound> screen;
  std::vector<DuelRound> confirm;
  std::optional<ChangeBounds> screened;   ///< at the screen's alpha
  std::optional<ChangeBounds> confirmed;  ///< with the bounds of Confirmation::Case
  std::optional<ChangeBounds> cycles;     ///< on a GPU that tells its clock: the change without that of the clock
  std::optional<double> p_slower;         ///< before Holm's correction
  std::optional<double> p_faster;
  std::optional<int> rounds_wanting;  ///< for an inconclusive case

  /// The rounds that the verdict rests on.
  const std::vector<DuelRound>& decisive_rounds() const { return confirm.empty() ? screen : confirm; }
  const std::optional<ChangeBounds>& change() const { return confirmed ? confirmed : screened; }
};

struct DuelResult {
  std::vector<DuelCase> cases;  ///< in the order of the plan
  std::string control_id;       ///< the last case that was its own opponent; empty if there was none
  std::vector<DuelRound> control;
  std::optional<ControlOutcome> control_outcome;
  std::string control_failure;  ///< why the control could not be measured
  std::vector<std::string> notes;

  int count(CaseVerdict verdict) const;
  bool contaminated() const;
  /// The exit code of `convladder duel`: 1 if a case failed; otherwise 4 if the control moved or could not be judged,
  /// or nothing was measured; otherwise 1 if one regressed; otherwise 4 if one is missing, 2 if one is inconclusive, 0.
  int exit_code() const;
};

/// Plans the cases of `options` on both sides. With `base_variant` and `new_variant` each group has the one pair of
/// them. With `base_folder` the base's stages are those of that folder, with the same names, and run in this program as
/// the new ones do. Throws UserError as make_plan does, and where only devices without a clock are asked for.
std::vector<DuelGroup> plan_duel(const RunOptions& options, const OtherProgram& base, const OtherProgram& now,
                                 const std::string& base_variant, const std::string& new_variant,
                                 const FolderProblem* base_folder = nullptr);

/// Called before a case is measured: "screening", "confirming" or "control", the id, and the part of the duel that is
/// done.
using DuelPhase = std::function<void(const char* phase, const std::string& id, double done)>;

/// Measures and judges all pairs of the plan.
DuelResult run_duel(const std::vector<DuelGroup>& plan, const OtherProgram& base, const OtherProgram& now,
                    const ImageSet& images, const DuelSettings& settings, const DuelPhase& phase);

}  // namespace convladder
