// The results of a run for a terminal: a table for each family, and notes beside it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/measure/runs/ladder_summary.hpp"

namespace convladder {

/// The name of a device in a heading: "AMD EPYC, 2 threads".
using DeviceTitle = std::function<std::string(const std::string& device)>;

/// A table for each device and family with a time or a count, each after an empty line: a row for a layer and batch
/// with the first stage, the last of stages 1 to 6, the best one, the fastest library and their ratios. At most
/// `most_columns` wide, if the names allow it: times are left out first. Where there are very many rows only those of
/// each layer's largest batch are shown, and a line says so.
std::string summary_text(const std::vector<Ladder>& ladders, const std::vector<CountedLadder>& counted,
                         const DeviceTitle& title_of, std::size_t most_columns);

/// One line each: stages that lose, other stages as fast as the best, faster stages that are less accurate, and how
/// well the medians are known.
std::vector<std::string> summary_notes(const std::vector<Ladder>& ladders, const std::vector<CountedLadder>& counted);

}  // namespace convladder
