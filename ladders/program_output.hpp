// Running another program to its end and taking what it says.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/confinement/confinement.hpp"

namespace convladder {

/// Of its standard output and of its standard error no more is kept.
inline constexpr std::size_t kMostProgramOutput = std::size_t{64} << 20;  // bytes

/// What a program finds. Nothing of it said: it runs as this process would.
struct ProgramSettings {
  std::string folder = {};                                   ///< that it runs in
  std::optional<std::vector<std::string>> environment = {};  ///< "NAME=value"
  std::optional<double> seconds = {};                        ///< that it and all that it starts may take
  std::optional<ConfinementWish> confinement = {};  ///< has to allow programs and, where it starts any, processes
};

struct ProgramOutput {
  int status = 0;           ///< as of waitpid
  std::string text;         ///< of the standard output
  std::string messages;     ///< of the standard error
  bool timed_out = false;   ///< it was killed after `seconds`
  int left_processes = 0;   ///< that it had started and that went on after its end. They were killed
  Confinement confinement;  ///< of what was wished for

  /// It came to its end by itself, with exit code 0.
  bool succeeded() const;
};

/// `words`: the program's path and its arguments. Its standard input is empty. When this returns, nothing that it
/// started runs any more, whatever session or group that is in. Throws UserError if it cannot be started, MachineFault
/// if it cannot be confined.
ProgramOutput run_program(const std::vector<std::string>& words, const ProgramSettings& settings = {});

}  // namespace convladder
