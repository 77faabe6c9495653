#include "harness/measure/plan/step_timeout.hpp"

namespace convladder {

double step_timeout_seconds(std::optional<double> asked, const StepWork& work, const DeviceKind& kind) {
  constexpr double kStartSeconds = 60;
  constexpr double kSecondsPerFlop = 5e-9;
  constexpr double kWithoutClock = 10;
  constexpr double kShareOfPeak = 1e-3;
  constexpr double kBytesPerSecond = 0.25e9;
  if (asked) return *asked;
  const double on_host = kStartSeconds + kSecondsPerFlop * work.flop;
  if (!kind.has_clock || kind.clock_is_virtual()) return kWithoutClock * on_host;
  const DeviceSpeed speed = kind.speed == nullptr ? DeviceSpeed() : kind.speed();
  if (speed.flop_per_second <= 0) return on_host;
  return speed.start_seconds + work.flop / (kShareOfPeak * speed.flop_per_second) + work.bytes / kBytesPerSecond;
}

}  // namespace convladder
