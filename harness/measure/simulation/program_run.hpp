// A program of somebody else, run with the stand-in in the place of the CUDA runtime and driver.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/measure/simulation/program_file.hpp"
#include "simulator/stand_in/settings.hpp"

namespace convladder {

/// What it takes for the loader to find the stand-in first, in front of what LD_LIBRARY_PATH holds already.
std::string library_path(const std::filesystem::path& stand_in);

struct ProgramEnd {
  int exit_code = 0;
  int signal = 0;  ///< that ended it; 0: it has exited
};

/// Runs it to its end: the same streams, environment, folder and process group, addresses that are the same in every
/// run, and signals that this program gets handed on. Throws UserError if it cannot be started. `words` are the name as
/// typed and its arguments.
ProgramEnd run_program(const ProgramFile& program, const std::vector<std::string>& words,
                       const stand_in::Settings& settings);

/// "SIGSEGV", "signal 42".
std::string signal_text(int signal);

}  // namespace convladder
