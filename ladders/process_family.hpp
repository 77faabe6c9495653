// A program with everything that it starts, however deep, ended together.
#pragma once

namespace convladder {

/// What the keeper of a family says of it, as bytes through a pipe.
struct FamilyReport {
  enum What : int {
    not_confined,  ///< `value` is an error number
    not_started,   ///< likewise
    ended          ///< `value` is a status as of waitpid
  };
  What what = ended;
  int value = 0;
  int left_processes = 0;
};

/// To be called in a process made by fork, which it ends. It stands between this program and one that it starts with
/// `start`, a function that returns only if that fails, after a report: orphans become the keeper's children, so
/// neither a session of their own nor a second fork hides them. It writes a report to `report` when the program has
/// ended and nothing of its family runs any more. SIGTERM has it kill all of them. Nothing here allocates.
[[noreturn]] void keep_family(int report, void (*start)(void* of), void* of);

}  // namespace convladder
