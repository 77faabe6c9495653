// Several launches with the same arguments, beside each other.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/simulation/simulation_report.hpp"

namespace convladder {

struct LabelledReport {
  std::string file;
  SimulationReport report;
};

/// Tables of at most 100 columns: the counters that are not 0 everywhere, each with its ratio to the first launch's,
/// how many values of each result differ from the first's, and how the launches ended. Below them, the findings.
std::string side_by_side_text(const std::vector<LabelledReport>& launches);

}  // namespace convladder
