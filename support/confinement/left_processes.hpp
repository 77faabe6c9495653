// Processes that a case starts. A confined one can start none; if the system has no filter for that, they are found
// here.
#pragma once

#include <sys/types.h>

namespace convladder {

/// From now on a process becomes this program's child, in whatever session it is, when its parent, which this program
/// started, has ended.
void adopt_orphans();

/// Notes a child that this program has started itself and waits for: it is no orphan.
void add_own_child(pid_t process);
void remove_own_child(pid_t process);

/// Kills the children of `process`, their descendants, and all adopted orphans. Returns how many there were; also 0 if
/// the system does not list children. `process` may have ended.
int end_left_processes(pid_t process);

}  // namespace convladder
