// `convladder simulate -- ./program`: runs a whole program with the stand-in for the CUDA runtime and driver.
#pragma once

#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "simulator/gpus/gpu_facts.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// Options that only a program has.
struct ProgramOptions {
  std::string gpu = kUsualGpu;
  std::string gpu_count;
  std::string driver_version;
  std::string sample;
  bool estimate = false;
  std::string memory;
  std::string error_exitcode = "1";
  bool leak_check = false;
  bool environment = false;
};

/// All options for a program, including those that it shares with kernels of files.
struct ProgramArguments {
  ProgramOptions options;
  std::string checkers;
  simulated::SchedulesWanted schedules;
  bool lines = false;
  std::string html;
  std::string threads;
  std::vector<std::string> limits;
  std::string format;
  bool verbose = false;
  std::string output;
};

void add_program_options(CLI::App& simulate, ProgramOptions& options);

/// Whether "--" or --env is among the words.
bool asks_for_program(const CommandLine& words);

/// Throws UserError for a program's option where a file is simulated.
void refuse_program_options(const CommandLine& words);
/// Throws UserError if one of the files is a program, which belongs behind "--".
void refuse_program_as_file(const std::vector<std::string>& files);

/// Runs the program behind "--", or prints the variables that a shell has to set. Returns the exit code; throws
/// UserError.
int simulate_program(const CommandLine& words, const ProgramArguments& given);

}  // namespace convladder
