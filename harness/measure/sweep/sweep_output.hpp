// A parameter sweep as a report: a line for each finished configuration, and a table, best first.
#pragma once

#include <string>

#include "harness/measure/sweep/sweep.hpp"
#include "support/report.hpp"

namespace convladder {

/// "measured 1.23 ms", "counted 4.5e+06 cycles", "predicted 1.23 ms (h100)", or why there is no score.
std::string score_text(const Sweep& sweep, const SweptConfiguration& one);

/// Title, table and recommended configuration.
Report sweep_report(const Sweep& sweep);

}  // namespace convladder
