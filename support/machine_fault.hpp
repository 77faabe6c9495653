// Errors of this machine, or of a limit set on it, that kept the program from doing something.
#pragma once

#include <string>

#include "support/errors.hpp"

namespace convladder {

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
