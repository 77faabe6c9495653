// The ladders of a record as tables.
#pragma once

#include <functional>
#include <vector>

#include "harness/measure/runs/ladder.hpp"
#include "harness/measure/runs/ladder_summary.hpp"
#include "support/report.hpp"

namespace convladder {

/// Adds a table for each ladder with a time: a row for each stage with its layer time, its speedups over the stage
/// below and the first one, and percent of the fastest library and of the layer's floor; with `intervals` the intervals
/// of these ratios in their place. Below it the op time of each library with a layout of its own. A time that the
/// machine disturbed has a sign, and the table a line that says so.
void add_ladders(Report& report, const std::vector<Ladder>& ladders, bool intervals = false);

/// Adds a table for each counted ladder: warp instructions, how many times as many the stage it builds on and the first
/// one execute, and the time predicted for the usual GPU. `arrange` sorts and cuts the rows.
using ArrangeCases = std::function<void(std::vector<const RecordedCase*>& cases)>;
void add_counted(Report& report, const std::vector<CountedLadder>& ladders, const ArrangeCases& arrange = {});

}  // namespace convladder
