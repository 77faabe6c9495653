// From a ladder and a folder of submissions to what is run: for each family one ranking, on the device that suits it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/judge/ranking/rank_options.hpp"
#include "harness/judge/ranking/submissions.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

enum class RankRole { submission, stage, library };

/// "submission", "stage", "library"
const char* role_name(RankRole role);

/// One who is measured: a person's stage, or one of the ladder's own.
struct RankEntry {
  RankRole role = RankRole::submission;
  std::string name;
  std::string file;                ///< for people
  std::string content;             ///< the SHA-256 of what it was made of; empty if it could not be made
  std::string broken;              ///< why it could not be made, in one line
  std::vector<PlannedCase> cases;  ///< by size; none if it is broken
};

/// All submissions of a family, and who may be their yardstick.
struct RankingPlan {
  std::string family;
  std::string device;
  bool has_clock = true;         ///< whether the device times; if not it counts
  bool virtual_clock = false;    ///< whether what it times is predicted
  std::vector<LayerWork> sizes;  ///< at least one
  std::vector<RankEntry> own;    ///< libraries and stages of the ladder
  std::vector<RankEntry> submissions;

  /// "measured", "predicted" or "counted": what its figures are, never two of them in one ranking. What a device counts
  /// is the source of predictions.
  const char* figures() const { return has_clock && !virtual_clock ? "measured" : "predicted"; }
};

struct RankPlan {
  const FolderProblem* problem = nullptr;
  std::string problem_hash;             ///< of problem.json and the reference
  std::vector<RankingPlan> rankings;    ///< at least one
  std::vector<std::string> left_alone;  ///< entries of the folder that are no submissions
};

/// Reads the submissions, compiles them and the ladder's stages, each by itself, and plans what is run. Throws
/// UserError for what is wrong with the ladder, the folder or the options.
RankPlan make_rank_plan(const RankOptions& options, const BuildProgress& progress);

/// The ids of all cases that could be run.
std::vector<std::string> planned_ids(const RankPlan& plan);

}  // namespace convladder
