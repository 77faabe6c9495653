// What an interrupted run becomes.
#pragma once

namespace convladder {

/// `convladder end-interrupted-run FOLDER`, not for people: what start_on_interrupt starts. Writes what is derived from
/// the cases that are there into the record.
inline constexpr const char* kEndInterruptedRun = "end-interrupted-run";

}  // namespace convladder
