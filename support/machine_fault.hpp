// Things that this machine, or a limit set on it, did not allow the program to do.
#pragma once

#include <string>

#include "support/errors.hpp"

namespace convladder {

/// Not the fault of a case: the run ends with one line, the case is not recorded, and a resumed run tries it again.
struct MachineFault : UserError {
  using UserError::UserError;
};

/// The text of errno, with the limit that usually causes it: "Too many open files (see 'ulimit -n')".
std::string system_error_text(int error);

/// What the want of memory says: with the limit, if one is set on this process's memory.
std::string out_of_memory_text();
/// Whether somebody set a limit on this process's memory (ulimit -v, -d); one that it has set itself does not count.
bool memory_is_limited();
/// From now on the limit on memory is this process's own: what finds none left is itself to blame.
void note_own_memory_limit();

}  // namespace convladder
