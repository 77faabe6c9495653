// The clock of the simulated GPU's multiprocessors, by the real clock: low at rest, up under load, down again where it
// is throttled; and the time slices of another process. What this says of a launch is final when the launch is
// enqueued.
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
  /// `highest_mhz` is the GPU's, where the settings name no clock under load.
  GpuClock(RealClock settings, int highest_mhz);

  /// How long work takes that begins then, the other process's slices included. `ns_at` is its time at a clock in MHz.
  Nanoseconds takes(Nanoseconds begin, const std::function<double(int mhz)>& ns_at, bool is_kernel);
  /// The clock that work would have that begins then.
  int mhz_from(Nanoseconds begin) const;
  /// What the multiprocessors' counters of cycles say then. Asked in the order of time.
  std::uint64_t cycles_at(Nanoseconds at);
  /// As NVML would have it at that time.
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
    double next_ns = 0;  // of work, when it begins again; less than 0: never
    bool is_active = false;
    Nanoseconds until = 0;
  };

  void begin_throttles(Nanoseconds at);
  /// From there on the device is this process's, until `slice_begin`.
  Nanoseconds after_slice(Nanoseconds at, Nanoseconds& slice_begin) const;
  bool falls_before(Nanoseconds begin) const;
  int clock_at(Nanoseconds at, Nanoseconds load_begin, std::uint64_t& reasons) const;
  void note(const Stretch& stretch);
  void add_up(const Stretch& stretch);

  RealClock settings_;
  int load_mhz_;
  std::vector<Throttled> throttles_;
  Nanoseconds load_begin_ = 0;  // of the load that there is, or was last
  Nanoseconds last_end_ = 0;
  bool has_worked_ = false;
  std::uint64_t launches_ = 0;
  double worked_ns_ = 0;
  std::deque<Stretch> stretches_;                    // that may not have ended
  std::array<std::uint64_t, kReasons> reason_ns_{};  // of those that have
  double energy_nj_ = 0;
  Nanoseconds counted_to_ = 0;  // up to where cycles are counted
  double cycles_ = 0;
};

}  // namespace convladder::stand_in
