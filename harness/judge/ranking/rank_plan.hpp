// Plans a ranking from a ladder and a folder of submissions: one ranking for each family, on the device that suits it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/judge/ranking/submissions.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// The level with which all of a submission's intervals hold at once.
inline constexpr double kRankLevel = 0.95;

/// The default numbers of rounds of a pair, at most and at least, whatever the budget is.
inline constexpr int kMostRounds = 30;
inline constexpr int kFewestRounds = 10;

enum class RankRole { submission, stage, library };

/// A role's name: "submission", "stage", "library".
const char* role_name(RankRole role);

/// An entry of a ranking: a person's stage, or one of the ladder's own.
struct RankEntry {
  RankRole role = RankRole::submission;
  std::string name;
  std::string file;                ///< the file's name as shown
  std::string content;             ///< the SHA-256 of its sources; empty if it could not be made
  std::string broken;              ///< why it could not be made, in one line
  std::vector<PlannedCase> cases;  ///< by size; none if it is broken
};

/// All submissions of a family, and the ladder's stages that may be their baseline.
struct RankingPlan {
  std::string family;
  std::string device;
  bool has_clock = true;         ///< whether the device times; if not it counts
  bool virtual_clock = false;    ///< whether its times are predicted
  std::vector<LayerWork> sizes;  ///< at least one
  std::vector<RankEntry> own;    ///< libraries and stages of the ladder
  std::vector<RankEntry> submissions;

  /// "measured", "predicted" or "counted": the kind of its figures, never two kinds in one ranking. Counts of a device
  /// are the source of predictions.
  const char* figures() const { return has_clock && !virtual_clock ? "measured" : "predicted"; }
};

struct RankPlan {
  const FolderProblem* problem = nullptr;
  std::string problem_hash;             ///< of problem.json and the reference
  std::vector<RankingPlan> rankings;    ///< at least one
  std::vector<std::string> left_alone;  ///< entries of the folder that are not submissions
};

/// Reads the submissions, compiles them and the ladder's stages, each alone, and plans the cases. Throws UserError for
/// errors in the ladder, the folder or the options.
RankPlan make_rank_plan(const RankOptions& options, const BuildProgress& progress);

/// The ids of all cases that could be run.
std::vector<std::string> planned_ids(const RankPlan& plan);

}  // namespace convladder
