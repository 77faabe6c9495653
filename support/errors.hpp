// Errors that end a command, and the exit codes of all commands.
#pragma once

#include <stdexcept>

namespace convladder {

/// What a command tells the shell. Documented in `convladder --help` and docs/command_line.md.
enum ExitCode : int {
  kExitOk = 0,            ///< everything asked for was done, and every case that ran is verified
  kExitCasesFailed = 1,   ///< a case was incorrect, crashed, timed out or could not be launched; the others stand.
                          ///< `simulate`: something was found, or the kernel was ended by a fault.
                          ///< `compare`: a case is slower. `baseline check`: a counter moved
  kExitInconclusive = 2,  ///< `compare`: nothing is slower as far as can be told, but not everything can be told.
                          ///< `baseline check`: a case has nothing to be compared with.
                          ///< `history`: something could not be read
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
