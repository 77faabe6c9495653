// Signals that end a process: its report is written all the same.
#pragma once

namespace convladder::stand_in {

/// For SIGSEGV and others whose effect is still to end the process; what the program sets for itself stays, then and
/// later. The process ends by the signal as it would have.
void end_with_report_on_signals();

}  // namespace convladder::stand_in
