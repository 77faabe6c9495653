// Runs what a ranking lacks: chooses the yardsticks, and measures each submission side by side with its own.
#pragma once

#include <cstdio>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/judge/ranking/rank_plan.hpp"
#include "harness/judge/ranking/rank_record.hpp"

namespace convladder {

/// The record's content for that plan (Record::create, Record::plan_anew).
RecordContent rank_content(const RankPlan& plan, const RankOptions& options,
                           const std::vector<std::string>& command_line, const ImageSet& images);

/// Whether a case that is there stays in a record that is planned anew: a rerun measures what has changed. What it was
/// measured beside is looked at later, when the yardstick is known.
bool keeps(const nlohmann::ordered_json& one_case, const RankPlan& plan, const RankOptions& options);

/// What a ranking has come to, and what was seen of the machine meanwhile.
struct RankOutcome {
  std::vector<RankResult> results;
  std::vector<std::string> notes;  ///< a line each
};

/// Runs it and completes the record, in which each case is as soon as it has ended. `lines` is where they are listed,
/// or null. `plan` must outlive the outcome. Throws UserError where nothing can be measured here; what is wrong with a
/// submission is its status.
RankOutcome run_ranking(const RankPlan& plan, const RankOptions& options, const ImageSet& images, Record& record,
                        std::FILE* lines);

}  // namespace convladder
