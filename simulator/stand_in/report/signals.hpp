// Lets a process that a signal ends write its report.
#pragma once

namespace convladder::stand_in {

/// Handles SIGSEGV and other signals whose effect is still to end the process; handlers that the program sets remain,
/// now and later. The process ends by the signal as it would have without this.
void end_with_report_on_signals();

/// From now on faults come to that handler first, and to one that the program has set if they are not HostAccesses'.
void take_faults_first();

}  // namespace convladder::stand_in
