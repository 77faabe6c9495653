// The ladders of a record as tables.
#pragma once

#include <vector>

#include "harness/measure/runs/ladder.hpp"
#include "harness/measure/runs/ladder_summary.hpp"
#include "support/report.hpp"

namespace convladder {

/// Adds a table for each ladder with a measured time: a row for each stage with its time, its
/// factor over the stage below, and percent of the fastest library, of the library's bare op and of the layer's floor.
/// A time that the machine disturbed has a sign, and the table a line that says so.
void add_ladders(Report& report, const std::vector<Ladder>& ladders);

/// Adds a table for each counted ladder: warp instructions, how many times as many the stage it builds on and the first
/// one execute, and the time predicted for the usual GPU.
void add_counted(Report& report, const std::vector<CountedLadder>& ladders);

}  // namespace convladder
