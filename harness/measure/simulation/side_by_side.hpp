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

/// Tables: the counters that are not 0 everywhere, each with its ratio to the first launch's,
/// how many values of each result differ from the first's, and how the launches ended. Below them, the findings.
Report side_by_side_report(const std::vector<LabelledReport>& launches);

}  // namespace convladder
