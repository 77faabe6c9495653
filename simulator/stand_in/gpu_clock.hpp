// The clock of the simulated GPU's multiprocessors under the real clock: low at rest, up under load, down again where
// it is throttled; and the time slices of another process. The results for a launch are final when it is enqueued.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "simulator/stand_in/gpu_state.hpp"
#include "simulator/stand_in/settings.hpp"
#include "simulator/stand_in/timeline.hpp"

namespace convladder::stand_in {

class GpuClock {
 public:
  /// `highest_mhz` is the GPU's highest clock, used where the settings name no clock under load.
  GpuClock(RealClock settings, int highest_mhz);

  /// The time of work that begins at `begin`, with the other process's slices. `ns_at` is its time at a clock in MHz.
  Nanoseconds takes(Nanoseconds begin, const std::function<double(int mhz)>& ns_at, bool is_kernel);
  /// The clock that work beginning at `begin` would have.
  int mhz_from(Nanoseconds begin) const;
  /// The multiprocessors' counters of cycles at a time. Calls must be in the order of time.
  std::uint64_t cycles_at(Nanoseconds at);
  /// The state that NVML would report at that time.
  GpuState state(Nanoseconds now);

 private:
  static constexpr std::size_t kReasons = 16;
  /// A time in which the device worked at one clock.
  struct Stretch {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    int mhz = 0;
    std::uint64_t reasons = 0;
  };
  struct Throttled {
    Throttle setting;
    double next_ns = 0;  // in time of work, when it begins again; less than 0: never
    bool is_active = false;
    Nanoseconds until = 0;
  };

  void begin_throttles(Nanoseconds at);
  /// The first time from `at` on when the device is this process's, which it then is until `slice_begin`.
  Nanoseconds after_slice(Nanoseconds at, Nanoseconds& slice_begin) const;
  bool falls_before(Nanoseconds begin) const;
  int clock_at(Nanoseconds at, Nanoseconds load_begin, std::uint64_t& reasons) const;
  void note(const Stretch& stretch);
  void add_up(const Stretch& stretch);

  RealClock settings_;
  int load_mhz_;
  std::vector<Throttled> throttles_;
  Nanoseconds load_begin_ = 0;  // of the current load, or the last one
  Nanoseconds last_end_ = 0;
  bool has_worked_ = false;
  std::uint64_t launches_ = 0;
  double worked_ns_ = 0;
  std::deque<Stretch> stretches_;                    // that may not have ended
  std::array<std::uint64_t, kReasons> reason_ns_{};  // of stretches that have ended
  double energy_nj_ = 0;
  Nanoseconds counted_to_ = 0;  // cycles are counted up to this time
  double cycles_ = 0;
};

}  // namespace convladder::stand_in
