// The results of a run for a terminal: a table for each family, and notes beside it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/measure/runs/ladder_summary.hpp"
#include "support/report.hpp"

namespace convladder {

/// The name of a device in a heading: "AMD EPYC, 2 threads".
using DeviceTitle = std::function<std::string(const std::string& device)>;

/// A table for each device and family with a time or a count: a row for a layer and batch with the first stage, the
/// last of stages 1 to 6, the best one, the fastest library and their ratios; times are left out where there is little
/// room. Where there are very many rows only those of each layer's largest batch are shown, and a line says so.
Report summary_report(const std::vector<Ladder>& ladders, const std::vector<CountedLadder>& counted,
                      const DeviceTitle& title_of);

/// One line each: stages that lose, other stages as fast as the best, faster stages that are less accurate, and how
/// well the medians are known.
std::vector<std::string> summary_notes(const std::vector<Ladder>& ladders, const std::vector<CountedLadder>& counted);

}  // namespace convladder
