// Running another program to its end and taking what it says.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace convladder {

/// Of its standard output and of its standard error no more is kept.
inline constexpr std::size_t kMostProgramOutput = std::size_t{64} << 20;  // bytes

struct ProgramOutput {
  int status = 0;        ///< as of waitpid
  std::string text;      ///< of the standard output
  std::string messages;  ///< of the standard error

  /// It came to its end by itself, with exit code 0.
  bool succeeded() const;
};

/// `words`: the program's path and its arguments. Its standard input is empty. Throws UserError if it cannot be
/// started.
ProgramOutput run_program(const std::vector<std::string>& words);

}  // namespace convladder
