// Processes that a case starts. A confined one can start none; if the system has no filter for that, they are found
// here.
#pragma once

#include <sys/types.h>

#include <functional>

namespace convladder {

/// From now on a process becomes this program's child, in whatever session it is, when its parent, which this program
/// started, has ended.
void adopt_orphans();

/// Starts a child that this program waits for itself, and which is no orphan: no other thread takes it for one, not
/// even before its number is known. `start` returns that, or a negative one if there is no child, which is returned.
pid_t start_own_child(const std::function<pid_t()>& start);
void remove_own_child(pid_t process);

/// Kills the children of `process`, their descendants, and all adopted orphans. Returns how many there were; also 0 if
/// the system does not list children. `process` may have ended.
int end_left_processes(pid_t process);

}  // namespace convladder
