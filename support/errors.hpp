// Errors that end a command, and the exit codes of all commands.
#pragma once

#include <stdexcept>

namespace convladder {

/// What a command tells the shell: the only place where the codes are defined. `convladder --help` and
/// docs/command_line.md say the same. The first that applies of 3, 1, 2, 0.
enum ExitCode : int {
  kExitOk = 0,            ///< everything asked for was done, and every case that ran is verified
  kExitCasesFailed = 1,   ///< a case was incorrect, crashed, timed out or could not be launched (the others stand), is
                          ///< slower, or its counters moved; a checker found something
  kExitInconclusive = 2,  ///< nothing like that, but something is missing to tell: a case that is not there or cannot
                          ///< be compared, too few samples, a file that could not be read
  kExitError = 3,         ///< bad input, bad usage, or nothing could be written: one line says what
  kExitInterrupted = 130,
};

/// Something that the user can fix. The message is one line and is all that is printed.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file that should be new already exists.
struct FileIsThere : UserError {
  using UserError::UserError;
};

}  // namespace convladder
