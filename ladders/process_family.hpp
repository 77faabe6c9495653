// A program and everything that it starts, however deep, which end together.
#pragma once

namespace convladder {

/// A keeper's report of its family, sent as bytes through a pipe.
struct FamilyReport {
  enum What : int {
    not_confined,  ///< `value` is an error number
    not_started,   ///< `value` is an error number
    ended          ///< `value` is a status as waitpid gives it
  };
  What what = ended;
  int value = 0;
  int left_processes = 0;
};

/// Keeps a program's family, and never returns: to be called in a process made by fork. That process stands between
/// this program and one that it starts with `start`, a function that returns only if that fails, after a report:
/// orphans become the keeper's children, so neither a session of their own nor a second fork hides them. It writes a
/// report to `report` when the program has ended and nothing of its family runs any more. On SIGTERM it kills all of
/// them. Nothing here allocates.
[[noreturn]] void keep_family(int report, void (*start)(void* of), void* of);

}  // namespace convladder
