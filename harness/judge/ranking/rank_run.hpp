// Runs the cases that a ranking lacks: chooses the baselines, and measures each submission side by side with its own.
#pragma once

#include <cstdio>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/judge/ranking/rank_plan.hpp"
#include "harness/judge/ranking/rank_record.hpp"

namespace convladder {

/// The results of a ranking, and notes on the machine meanwhile.
struct RankOutcome {
  std::vector<RankResult> results;
  std::vector<std::string> notes;  ///< a line each
};

/// Runs the ranking and completes the record, into which each case is written as soon as it has ended. `lines` is where
/// they are listed, or null. `plan` must outlive the outcome. Throws UserError where nothing can be measured here; an
/// error of a submission is its status.
RankOutcome run_ranking(const RankPlan& plan, const RankOptions& options, const ImageSet& images, RankRecord& record,
                        std::FILE* lines);

}  // namespace convladder
