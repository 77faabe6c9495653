// Waiting until other programs leave the machine alone.
#pragma once

#include <functional>
#include <string>

namespace convladder {

/// Waits until others have left the machine's cores to `threads` host threads for a second (busy_text is empty), for
/// `most_seconds` at most. Meanwhile `wait` is told what others use and how many seconds are left, twice a second.
/// Returns what they use if they still do, in one line; empty if the machine is quiet, or if the system does not tell.
std::string wait_until_quiet(int threads, double most_seconds,
                             const std::function<void(const std::string& busy, double seconds_left)>& wait);

}  // namespace convladder
