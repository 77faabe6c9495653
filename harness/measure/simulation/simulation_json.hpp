// JSON of everything that the simulator's commands print and write, as whole texts with a final line end.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/simulation/check_cases.hpp"
#include "harness/measure/simulation/kernel_list.hpp"
#include "harness/measure/simulation/program_report.hpp"
#include "harness/measure/simulation/side_by_side.hpp"
#include "harness/measure/simulation/simulation_report.hpp"

namespace convladder {

/// `simulate`: all of a launch, with all values of the result buffers; in ASCII, for names in PTX need not be UTF-8.
std::string simulation_json(const SimulationReport& report);
/// `simulate` of several files or kernels: {"simulations": [{"file", …}]}.
std::string simulations_json(const std::vector<LabelledReport>& launches);
/// `simulate --save NAME=FILE.json`, on one line.
std::string buffer_json(const BufferContent& buffer);
/// `simulate --list`: one list, or {"files": […]}.
std::string kernel_lists_json(const std::vector<KernelList>& lists);
/// `simulate -- ./program`: results/simulated_program.schema.json.
std::string program_report_json(const ProgramReport& report);
/// `check`.
std::string checked_cases_json(const std::vector<CheckedCase>& cases);

}  // namespace convladder
