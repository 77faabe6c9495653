// The report of a simulated program for people, in the order and with the tables that they know from compute-sanitizer
// and nvprof; 100 columns wide.
#pragma once

#include <string>

#include "harness/measure/simulation/program_report.hpp"

namespace convladder {

std::string program_report_text(const ProgramReport& report);

}  // namespace convladder
