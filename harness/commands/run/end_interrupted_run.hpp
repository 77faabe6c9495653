// The end of an interrupted run.
#pragma once

namespace convladder {

/// `convladder end-interrupted-run FOLDER`, not for people: start_on_interrupt starts it. It derives the rest of the
/// record from the cases that are there, and writes it.
inline constexpr const char* kEndInterruptedRun = "end-interrupted-run";

}  // namespace convladder
