// The groups of a ranking as they are run: a submission beside its baseline, or the stages that a baseline is chosen
// from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/judge/ranking/rank_plan.hpp"
#include "harness/measure/cases/case_watch.hpp"
#include "harness/measure/cases/measurement.hpp"
#include "harness/measure/cases/workload.hpp"
#include "support/progress.hpp"

namespace convladder {

/// The outcomes of a group's cases, by id.
using GroupOutcomes = std::map<std::string, CaseOutcome>;

/// An outcome that is known without a run.
CaseOutcome ended_case(Status status, std::string reason);

class RankGroups {
 public:
  /// All arguments must outlive the object.
  RankGroups(const RankPlan& plan, const RankOptions& options, const ImageSet& images, Progress& progress);

  /// The options of the ranking, with the limit on a step for its device and that size.
  RunOptions options_for(const RankingPlan& ranking, std::size_t size) const;

  /// Runs cases of one size side by side, whatever they do. With `of_submission`, which is one of them, an apparent
  /// fault of the machine that names it counts as its own, and the whole group may take the options' limit; `keep` then
  /// tells whether its outcome would be the same another time. Throws MachineFault, UserError.
  GroupOutcomes run(const std::vector<PlannedCase>& cases, const RankingPlan& ranking, std::size_t size,
                    const RunOptions& run);
  GroupOutcomes run(const std::vector<PlannedCase>& cases, const PlannedCase& of_submission, const RankingPlan& ranking,
                    std::size_t size, const RunOptions& run, bool& keep);

 private:
  GroupOutcomes run_within(const std::vector<PlannedCase>& cases, const RankingPlan& ranking, std::size_t size,
                           const RunOptions& run, const std::optional<double>& limit_seconds);
  const Workload& workload_for(const RankingPlan& ranking, std::size_t size);

  const RankOptions& options_;
  const ImageSet& images_;
  Progress& progress_;
  CaseWatch watch_;
  std::optional<Workload> workload_;  ///< for one size only, since workloads may be large
  std::string workload_key_;
};

}  // namespace convladder
