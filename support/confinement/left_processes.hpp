// Processes that a case starts. A confined one can start none; where the system has no filter for that, they are found.
#pragma once

#include <sys/types.h>

namespace convladder {

/// From now on a process whose parent, one that this program started, has ended becomes this program's child, whatever
/// session it is in.
void adopt_orphans();

/// A child that this program has started itself and waits for: no orphan.
void add_own_child(pid_t process);
void remove_own_child(pid_t process);

/// Kills the children of `process`, theirs, and all adopted orphans. Returns how many there were; 0 too where the
/// system does not list children. `process` may have ended.
int end_left_processes(pid_t process);

}  // namespace convladder
