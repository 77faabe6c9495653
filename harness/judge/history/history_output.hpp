// A history as a report.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/history/history.hpp"
#include "support/report.hpp"

namespace convladder {

/// A table of all series with the greatest change first, every marked change with its commits, the anchors' own times,
/// why series were split, which files could not be read.
Report history_report(const History& history);

/// Remarks on how the history was judged, a line each.
std::vector<std::string> history_notes(const History& history);

}  // namespace convladder
