// A ranking as text for people and as CSV for spreadsheets.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/ranking/rank_plan.hpp"
#include "harness/judge/ranking/rank_result.hpp"

namespace convladder {

/// Title, table and notes of each ranking, in at most 100 columns. `medians`: also the figure of each size.
std::string ranking_text(const RankPlan& plan, const std::vector<RankResult>& results, const RankOptions& options,
                         bool medians);

/// A line for each submission and baseline, followed by the figures of each size. Texts that a spreadsheet would take
/// for a formula begin with an apostrophe.
std::string ranking_csv(const std::vector<RankResult>& results);

}  // namespace convladder
