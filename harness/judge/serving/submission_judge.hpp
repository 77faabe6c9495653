// Judges submissions for one problem, one after the other, without end: nothing of a submission stays behind.
#pragma once

#include <cstddef>
#include <filesystem>
#include <list>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/judge/serving/submission_builds.hpp"
#include "harness/judge/serving/verdict.hpp"
#include "harness/measure/cases/case_loop.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/options.hpp"

namespace convladder {

/// The settings of a server.
struct ServeOptions {
  RunOptions run;               ///< the ladder's folder, the seed, and how long is measured
  double limit_seconds = 60;    ///< the most that a submission may take on a size
  std::size_t most_kept = 500;  ///< compiled submissions that are kept
};

/// Everything here is for one thread, which lives as long as this object: the processes that it starts end with the
/// thread.
class SubmissionJudge {
 public:
  /// Opens the folder and compiles its reference. The options must outlive this. Throws UserError.
  SubmissionJudge(const ServeOptions& options, const BuildProgress& progress);

  /// Compiles the submission, verifies it on each size and measures it there, confined as in a ranking. Whatever is
  /// wrong is in the verdict.
  ServedVerdict judge(const ServedSubmission& submission);

  /// Removes what a submission that is being judged has on the disk, before this process ends. Any thread may call.
  void leave_nothing() const { builds_.leave_nothing(); }

  const FolderProblem& problem() const { return problem_; }

 private:
  struct Sized {
    std::string name;
    std::unique_ptr<Workload> workload;
  };
  void judge_built(const ServedSubmission& submission, const BuiltSubmission& built, ServedVerdict& verdict);
  CaseOutcome outcome_of(const PlannedCase& planned, const Workload& workload, const RunOptions& run, bool measure);
  CaseOutcome run_once(const PlannedCase& planned, const Workload& workload, const RunOptions& run);
  RunOptions options_for(const ServedSubmission& submission, const StageSource& source) const;
  const Workload& workload(const PlannedCase& planned);

  const ServeOptions& options_;
  const FolderProblem& problem_;
  SubmissionBuilds builds_;
  ImageSet images_;
  CaseLoop loop_;
  std::list<Sized> sized_;               ///< the data of sizes, those that were asked for last in front
  std::set<std::string> with_ceilings_;  ///< devices
};

/// The problem for clients: problem.json, the functions that a source has to define, and what else a client may choose.
nlohmann::ordered_json problem_json(const FolderProblem& problem);

}  // namespace convladder
