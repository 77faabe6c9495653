// Errors that end a command, and the exit codes of all commands; the limits of this machine that may be behind an
// error.
#pragma once

#include <stdexcept>
#include <string>

namespace convladder {

/// The exit codes of commands, which are defined only here. `convladder --help` and docs/use/command_line.md say the
/// same. If several apply, the first of 3, 1, 5, 4, 2, 0 counts.
enum ExitCode : int {
  kExitOk = 0,            ///< everything asked for was done, and every case that ran is verified
  kExitCasesFailed = 1,   ///< a case was incorrect, crashed, timed out or could not be launched (the others stand), is
                          ///< slower, or its counters moved; a checker found something
  kExitInconclusive = 2,  ///< nothing like that, but something cannot be told: too few samples, a file that could not
                          ///< be read, a case without a baseline
  kExitError = 3,         ///< bad input, bad usage, or nothing could be written: one line says what
  kExitIncomplete = 4,    ///< a comparison that proves nothing for all its cases: one is missing or cannot be compared,
                          ///< or the control moved. More samples would not help, and a gate must not let it pass
  kExitUnexpected = 5,    ///< a simulated kernel did not compute what was expected of it
  kExitUntestable = 125,  ///< `duel --bisect`: git bisect is to try another commit
  kExitStopBisect = 128,  ///< `duel --bisect`, instead of kExitError, by which git bisect would call the commit bad
  kExitInterrupted = 130,
};

/// An error that the user can fix. The message is one line and is all that is printed.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file that should be new already exists.
struct FileIsThere : UserError {
  using UserError::UserError;
};

/// A fault of the machine and not of a case: the run ends with one line, the case is not recorded, and a resumed run
/// tries it again.
struct MachineFault : UserError {
  using UserError::UserError;
};

/// The text of errno, with the limit that usually causes it: "Too many open files (see 'ulimit -n')".
std::string system_error_text(int error);

/// The message for a lack of memory, with the limit, if one is set on this process's memory.
std::string out_of_memory_text();
/// Whether a limit on this process's memory was set from outside (ulimit -v, -d); one that it has set itself does not
/// count.
bool memory_is_limited();
/// From now on the limit on memory is this process's own: code that reaches it is itself to blame.
void note_own_memory_limit();

}  // namespace convladder
