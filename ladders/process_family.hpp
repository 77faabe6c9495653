// A program and everything that it starts, however deep, which end together.
#pragma once

#include <cstdint>

namespace convladder {

/// A keeper's report of its family, sent as bytes through a pipe.
struct FamilyReport {
  enum What : int {
    starting,      ///< the next instruction of the process is the program's
    not_confined,  ///< `value` is an error number
    not_started,   ///< `value` is an error number
    ended          ///< `value` is a status as waitpid gives it
  };
  What what = ended;
  int value = 0;
  int left_processes = 0;
  std::int64_t at_ns = 0;   ///< when it was seen, by family_clock_ns
  std::int64_t cpu_ns = 0;  ///< of one that has ended: processor time, also of what it started and waited for
};

/// Nanoseconds of a clock that all processes share.
std::int64_t family_clock_ns();

/// Keeps a program's family, and never returns: to be called in a process made by fork. That process stands between
/// this program and one that it starts with `start`, a function that returns only if that fails, after a report:
/// orphans become the keeper's children, so neither a session of their own nor a second fork hides them. It writes a
/// report to `report` when the program has ended and nothing of its family runs any more. On SIGTERM it kills all of
/// them. Nothing here allocates.
[[noreturn]] void keep_family(int report, void (*start)(void* of), void* of);

}  // namespace convladder
