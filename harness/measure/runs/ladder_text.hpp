// The ladders of a record as tables for a terminal.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/runs/ladder.hpp"
#include "harness/measure/runs/ladder_summary.hpp"

namespace convladder {

/// A table for each ladder with a measured time, each after an empty line: a row for each stage with its time, its
/// factor over the stage below, and percent of the fastest library, of the library's bare op and of the layer's floor.
/// A time that the machine disturbed has a sign, and the table a line that says so. Empty if nothing was measured.
std::string ladders_text(const std::vector<Ladder>& ladders);

/// A table for each counted ladder: warp instructions, how many times as many the stage it builds on and the first one
/// execute, and the time predicted for the usual GPU. Empty if nothing was counted.
std::string counted_text(const std::vector<CountedLadder>& ladders);

}  // namespace convladder
