// Runs another program to its end and takes its output.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/confinement/confinement.hpp"

namespace convladder {

/// The most that is kept of a program's standard output, and of its standard error.
inline constexpr std::size_t kMostProgramOutput = std::size_t{64} << 20;  // bytes

/// The surroundings of a program. Without them it runs as this process would.
struct ProgramSettings {
  std::string folder = {};                                   ///< the folder that it runs in
  std::optional<std::vector<std::string>> environment = {};  ///< "NAME=value"
  std::optional<double> seconds = {};                        ///< the most that it and all that it starts may take
  std::optional<ConfinementWish> confinement = {};  ///< has to allow programs and, where it starts any, processes
};

struct ProgramOutput {
  int status = 0;           ///< as waitpid gives it
  std::string text;         ///< its standard output
  std::string messages;     ///< its standard error
  bool timed_out = false;   ///< it was killed after `seconds`
  int left_processes = 0;   ///< processes that it had started and that went on after its end; they were killed
  double wall_ns = 0;       ///< from its first instruction to its end, as a process beside it saw them
  double cpu_ns = 0;        ///< its processor time, and that of all that it started and waited for
  Confinement confinement;  ///< what was achieved of the wish

  /// Whether it ended of its own accord, with exit code 0.
  bool succeeded() const;
};

/// Runs a program. `words`: its path and its arguments. Its standard input is empty. When this returns, nothing that it
/// started runs any more, whatever session or group that is in. Throws UserError if it cannot be started, MachineFault
/// if it cannot be confined.
ProgramOutput run_program(const std::vector<std::string>& words, const ProgramSettings& settings = {});

}  // namespace convladder
