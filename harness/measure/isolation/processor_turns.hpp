// How much processor time a process got, as the system counts it. On a busy machine a process waits for its turn, but
// the clock goes on.
#pragma once

#include <sys/types.h>

namespace convladder {

struct ProcessorTurns {
  double used_ns = 0;    ///< on processors, all threads of the process together
  double worked_ns = 0;  ///< its first thread, of that
  double waited_ns = 0;  ///< its first thread, ready to run, for a processor
};

/// Of another process, or of this one with `getpid()`, since it started. Each is 0 where the system does not say.
ProcessorTurns processor_turns(pid_t process);

/// What an answer took, as the one who asked saw it.
struct ObservedAnswer {
  double ns = 0;         ///< by the clock; 0 where that was not looked at
  double used_ns = 0;    ///< of it on processors, all threads of the one who answered together
  double worked_ns = 0;  ///< of that its first thread
  double waited_ns = 0;  ///< ready to run, here and there, and without a processor

  /// What waiting for a processor does not explain of an answer that may take so long. The process may not have kept
  /// all processors busy for longer itself, beside `overhead_ns`; and its first thread always worked for what it did.
  double own_ns(double may_take_ns, double overhead_ns) const;
};

}  // namespace convladder
