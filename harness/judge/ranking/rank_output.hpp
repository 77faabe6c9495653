// A ranking as a report for people and as a table for spreadsheets.
#pragma once

#include <vector>

#include "harness/judge/ranking/rank_plan.hpp"
#include "harness/judge/ranking/rank_result.hpp"
#include "support/report.hpp"

namespace convladder {

/// Title, table and notes of each ranking, at least one section. `medians`: also the figure of each size.
Report ranking_report(const RankPlan& plan, const std::vector<RankResult>& results, const RankOptions& options,
                      bool medians);

/// A row for each submission and baseline, with the figures of each size. Texts that a spreadsheet would take for a
/// formula begin with an apostrophe.
ReportTable ranking_table(const std::vector<RankResult>& results);

}  // namespace convladder
