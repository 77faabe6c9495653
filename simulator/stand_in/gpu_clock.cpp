#include "simulator/stand_in/gpu_clock.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace convladder::stand_in {
namespace {

constexpr Nanoseconds kStep = 1'000'000;  // the clock is taken as constant within it
constexpr int kMhzStep = 15;              // clocks of NVIDIA's GPUs are multiples of it
constexpr std::uint64_t kIdle = 1;        // nvmlClocksEventReasonGpuIdle
constexpr double kIdleWatts = 70;
constexpr double kMostWatts = 650;
constexpr unsigned kIdleCelsius = 32;
constexpr unsigned kMostCelsius = 70;
constexpr double kNsOfHeating = 5e9;

Nanoseconds of_ms(double ms) { return static_cast<Nanoseconds>(ms * 1e6); }

}  // namespace

GpuClock::GpuClock(RealClock settings, int highest_mhz)
    : settings_(std::move(settings)), load_mhz_(settings_.load_mhz > 0 ? settings_.load_mhz : highest_mhz) {
  for (const Throttle& one : settings_.throttles) {
    throttles_.push_back({one, one.at_launch > 0 ? -1 : one.after_ms * 1e6, false, 0});
  }
}

void GpuClock::begin_throttles(Nanoseconds at) {
  for (Throttled& one : throttles_) {
    if (one.is_active && at >= one.until) one.is_active = false;
    const bool is_at_launch = one.setting.at_launch > 0 && one.setting.at_launch == launches_ && one.until == 0;
    const bool is_after_work = one.next_ns >= 0 && worked_ns_ >= one.next_ns;
    if (!is_at_launch && !is_after_work) continue;
    one.is_active = true;
    one.until = one.setting.lasts_ms > 0 ? at + of_ms(one.setting.lasts_ms) : std::numeric_limits<Nanoseconds>::max();
    one.next_ns = one.setting.every_ms > 0 ? worked_ns_ + one.setting.every_ms * 1e6 : -1;
  }
}

Nanoseconds GpuClock::after_slice(Nanoseconds at, Nanoseconds& slice_begin) const {
  const Nanoseconds every = of_ms(settings_.sharing.every_ms);
  const Nanoseconds slice = of_ms(settings_.sharing.slice_ms);
  slice_begin = std::numeric_limits<Nanoseconds>::max();
  if (every == 0 || slice == 0) return at;
  const Nanoseconds turn = at / every * every;
  slice_begin = turn + every;
  return std::max(at, turn + slice);
}

bool GpuClock::falls_before(Nanoseconds begin) const {
  return !has_worked_ || begin > last_end_ + of_ms(settings_.fall_ms);
}

int GpuClock::mhz_from(Nanoseconds begin) const {
  Nanoseconds slice_begin = 0;
  std::uint64_t reasons = 0;
  return clock_at(after_slice(begin, slice_begin), falls_before(begin) ? begin : load_begin_, reasons);
}

int GpuClock::clock_at(Nanoseconds at, Nanoseconds load_begin, std::uint64_t& reasons) const {
  const double ramp = settings_.ramp_ms * 1e6;
  const double share = ramp > 0 ? std::min(1.0, static_cast<double>(at - load_begin) / ramp) : 1.0;
  int mhz = settings_.rest_mhz + static_cast<int>(std::lround((load_mhz_ - settings_.rest_mhz) * share));
  if (share < 1) mhz = mhz / kMhzStep * kMhzStep;
  reasons = 0;
  for (const Throttled& one : throttles_) {
    if (!one.is_active || at >= one.until || mhz <= one.setting.mhz) continue;
    mhz = one.setting.mhz;
    reasons = one.setting.reason;
  }
  return std::max(mhz, 1);
}

Nanoseconds GpuClock::takes(Nanoseconds begin, const std::function<double(int mhz)>& ns_at, bool is_kernel) {
  if (falls_before(begin)) load_begin_ = begin;
  has_worked_ = true;
  launches_ += is_kernel ? 1 : 0;
  double left = 1;
  Nanoseconds at = begin;
  while (true) {
    Nanoseconds slice_begin = 0;
    at = after_slice(at, slice_begin);
    begin_throttles(at);
    Stretch stretch{at, 0, 0, 0};
    stretch.mhz = clock_at(at, load_begin_, stretch.reasons);
    const double whole_ns = std::max(1.0, ns_at(stretch.mhz));
    const Nanoseconds until = std::min(at + kStep, slice_begin);
    const auto rest_ns = static_cast<Nanoseconds>(std::llround(whole_ns * left));
    const bool ends = at + rest_ns <= until;
    stretch.end = ends ? at + rest_ns : until;
    worked_ns_ += static_cast<double>(stretch.end - at);
    left -= static_cast<double>(stretch.end - at) / whole_ns;
    note(stretch);
    at = stretch.end;
    if (ends) break;
  }
  last_end_ = std::max(last_end_, at);
  return std::max<Nanoseconds>(at - begin, 1);
}

/// Between pieces of work the multiprocessors keep the clock of the last one.
std::uint64_t GpuClock::cycles_at(Nanoseconds at) {
  const int idle_mhz = stretches_.empty() ? settings_.rest_mhz : stretches_.back().mhz;
  if (at > counted_to_) cycles_ += static_cast<double>(at - counted_to_) * idle_mhz * 1e-3;
  counted_to_ = std::max(counted_to_, at);
  return static_cast<std::uint64_t>(cycles_);
}

void GpuClock::note(const Stretch& stretch) {
  cycles_at(stretch.begin);
  if (stretch.end > counted_to_) {
    cycles_ += static_cast<double>(stretch.end - std::max(stretch.begin, counted_to_)) * stretch.mhz * 1e-3;
    counted_to_ = stretch.end;
  }
  constexpr Nanoseconds kGap = 10'000;  // between kernels; the device does not count as idle then
  if (!stretches_.empty()) {
    Stretch& last = stretches_.back();
    const bool is_next = stretch.begin >= last.begin && stretch.begin <= last.end + kGap;
    if (is_next && last.mhz == stretch.mhz && last.reasons == stretch.reasons) {
      last.end = std::max(last.end, stretch.end);
      return;
    }
  }
  stretches_.push_back(stretch);
}

void GpuClock::add_up(const Stretch& stretch) {
  const std::uint64_t ns = stretch.end - stretch.begin;
  for (std::size_t bit = 0; bit < kReasons; ++bit) {
    if ((stretch.reasons >> bit & 1U) != 0) reason_ns_[bit] += ns;
  }
  energy_nj_ += static_cast<double>(ns) * (kMostWatts - kIdleWatts) * stretch.mhz / load_mhz_;
}

GpuState GpuClock::state(Nanoseconds now) {
  GpuState state;
  state.query_ms = settings_.nvml_ms;
  state.library_ns = settings_.library_ns;
  state.mhz = static_cast<unsigned>(settings_.rest_mhz);
  state.reasons = kIdle;
  while (stretches_.size() > 1 && stretches_.front().end <= now) {
    add_up(stretches_.front());
    stretches_.pop_front();
  }
  const auto before = reason_ns_;
  const double energy_before = energy_nj_;
  for (Stretch one : stretches_) {
    if (one.begin >= now) continue;
    if (now < one.end) {
      state.mhz = static_cast<unsigned>(one.mhz);
      state.reasons = one.reasons;
    }
    one.end = std::min(one.end, now);
    add_up(one);
  }
  if (state.reasons == kIdle && has_worked_ && now <= last_end_ + of_ms(settings_.fall_ms)) {
    std::uint64_t none = 0;
    state.mhz = static_cast<unsigned>(clock_at(std::max(last_end_, load_begin_), load_begin_, none));
  }
  for (std::size_t bit = 0; bit < kReasons; ++bit) state.reason_ns[bit] = reason_ns_[bit];
  state.energy_mj = static_cast<std::uint64_t>((energy_nj_ + static_cast<double>(now) * kIdleWatts) * 1e-6);
  const double heat = std::min(1.0, worked_ns_ / kNsOfHeating);
  state.celsius = kIdleCelsius + static_cast<unsigned>((kMostCelsius - kIdleCelsius) * heat);
  reason_ns_ = before;
  energy_nj_ = energy_before;
  state.has_other = settings_.sharing.every_ms > 0 || settings_.sharing.memory_bytes > 0 ? 1 : 0;
  state.other_bytes = settings_.sharing.memory_bytes;
  return state;
}

}  // namespace convladder::stand_in
