// Runs another program with the stand-in in the place of the CUDA runtime and driver.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/measure/simulation/program_file.hpp"
#include "simulator/stand_in/settings.hpp"

namespace convladder {

struct ProgramEnd {
  int exit_code = 0;
  int signal = 0;  ///< the signal that ended it; 0: it has exited
};

/// Runs the program to its end, with the same streams, environment, folder and process group, addresses that are the
/// same in every run, and signals handed on that this program gets. Throws UserError if it cannot be started. `words`
/// are the name as typed and its arguments.
ProgramEnd run_program(const ProgramFile& program, const std::vector<std::string>& words,
                       const stand_in::Settings& settings);

/// "SIGSEGV", "signal 42".
std::string signal_text(int signal);

}  // namespace convladder
