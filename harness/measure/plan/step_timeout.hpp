// How long a case may take to answer.
#pragma once

#include <optional>

#include "devices/device_registry.hpp"

namespace convladder {

/// What a process is asked to do between two answers.
struct StepWork {
  double flop = 0;
  double bytes = 0;  ///< that the host fills, copies to the device or reads back
};

/// Seconds for a step on a device of that kind: as asked for, or so much that only what hangs exceeds it.
/// - The host: 60 s and 5 s per GFLOP, which a single slow core manages.
/// - A GPU: the time to start, what a thousandth of its peak takes, and its bytes at 0.25 GB/s.
/// - A device without a clock of its own executes instruction by instruction: ten times what the host gets.
double step_timeout_seconds(std::optional<double> asked, const StepWork& work, const DeviceKind& kind);

}  // namespace convladder
