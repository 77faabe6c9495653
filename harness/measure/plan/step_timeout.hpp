// How long a case may take to answer.
#pragma once

#include <optional>

#include "devices/device_registry.hpp"

namespace convladder {

/// The work that a process is asked to do between two answers.
struct StepWork {
  double flop = 0;
  double bytes = 0;  ///< bytes that the host fills, copies to the device or reads back
};

/// Seconds for a step on a device of that kind: as asked for, or so many that only a hanging step exceeds them.
/// - The host: 60 s and 5 s per GFLOP, which a single slow core manages.
/// - A GPU: the time to start, the time of the work at a thousandth of its peak, and its bytes at 0.25 GB/s.
/// - A device without a clock of its own executes instruction by instruction: ten times the host's time.
double step_timeout_seconds(std::optional<double> asked, const StepWork& work, const DeviceKind& kind);

}  // namespace convladder
