// The kernel that runs, while it runs: its progress, its limit of time, and a signal that asks the process to end. The
// kernel stops at its next look at them, so that what it has done until then is in the report.
#pragma once

#include <string>

#include "simulator/execution/launch_limits.hpp"

namespace convladder::stand_in {

/// While it exists, this thread runs a kernel, and a signal is left for it.
class RunningKernel {
 public:
  explicit RunningKernel(const std::string& name);
  ~RunningKernel();
  RunningKernel(const RunningKernel&) = delete;
  RunningKernel& operator=(const RunningKernel&) = delete;
};

/// The reason to end the kernel: a signal, or that it runs for longer than `most_seconds`, if that is not 0; empty if
/// it may go on. If `shows_progress`, a line on stderr says every now and then how far a long kernel is.
std::string look_at_kernel(const simulated::LaunchProgress& progress, double most_seconds, bool shows_progress);

/// Whether a kernel runs in any thread, and whether that is the calling one. For handlers of signals.
bool does_kernel_run();
bool does_kernel_run_here();

/// Leaves the signal for the kernel. False if one is left already.
bool leave_for_kernel(int signal);

/// The signal that is left for the kernel; 0: none.
int signal_for_kernel();

/// "SIGINT"; empty for signals that do not end a process with a report.
const char* name_of_signal(int signal);

/// Ends the process by the signal, whose report has been written.
[[noreturn]] void end_by_signal(int signal);

}  // namespace convladder::stand_in
