// How long a case may take to answer.
#pragma once

#include <optional>

namespace convladder {

/// Seconds for a step that does so many floating-point operations: as asked for, or 60 s and 5 s per GFLOP, which a
/// single slow core manages. A device without a clock executes instruction by instruction and gets ten times that.
inline double step_timeout_seconds(std::optional<double> asked, double flop, bool has_clock) {
  constexpr double kStartSeconds = 60;
  constexpr double kSecondsPerFlop = 5e-9;
  constexpr double kWithoutClock = 10;
  return asked.value_or((kStartSeconds + kSecondsPerFlop * flop) * (has_clock ? 1 : kWithoutClock));
}

}  // namespace convladder
