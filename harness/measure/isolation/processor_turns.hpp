// How much processor time a process got, as the system counts it. On a busy machine a process waits for its turn, but
// the clock goes on.
#pragma once

#include <sys/types.h>

namespace convladder {

struct ProcessorTurns {
  double used_ns = 0;    ///< on processors, all threads of the process together
  double worked_ns = 0;  ///< of `used_ns`, that of its first thread
  double waited_ns = 0;  ///< time that its first thread, ready to run, waited for a processor
};

/// The time that all threads of the process together, ready to run, waited for a processor, since each has started. 0
/// where the system does not say.
double waited_by_all_ns(pid_t process);

/// The processor times since its start of another process, or of this one with `getpid()`. Each is 0 where the system
/// does not say.
ProcessorTurns processor_turns(pid_t process);

/// How long an answer took, as seen by the process that asked.
struct ObservedAnswer {
  double ns = 0;                ///< by the clock; 0 where that was not looked at
  double used_ns = 0;           ///< time on processors in `ns`, all threads of the answering process together
  double worked_ns = 0;         ///< of `used_ns`, that of its first thread
  double waited_ns = 0;         ///< time that either process was ready to run and had no processor
  double waited_by_all_ns = 0;  ///< that of all threads of the answering process together

  /// The part of an answer's time that waiting for a processor does not explain, if the answer may take so long. The
  /// process may not have kept all processors busy for longer itself, except for `overhead_ns`; and its first thread
  /// always worked for what it did.
  double own_ns(double may_take_ns, double overhead_ns) const;
};

}  // namespace convladder
