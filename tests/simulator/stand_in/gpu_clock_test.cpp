#include "simulator/stand_in/gpu_clock.hpp"

#include <gtest/gtest.h>

namespace convladder::stand_in {
namespace {

constexpr Nanoseconds kMs = 1'000'000;

/// Work of so many cycles.
std::function<double(int)> cycles(double count) {
  return [count](int mhz) { return count * 1e3 / mhz; };
}

RealClock settings() {
  RealClock clock;
  clock.rest_mhz = 345;
  clock.load_mhz = 1980;
  clock.ramp_ms = 40;
  clock.fall_ms = 5;
  return clock;
}

/// The clock at which one cycle is done.
double mhz_at(GpuClock& clock, Nanoseconds at) {
  return 1e6 / static_cast<double>(clock.takes(at, cycles(1000), true));
}

TEST(GpuClock, RampsUnderLoadAndFallsWithoutIt) {
  GpuClock clock(settings(), 1755);
  EXPECT_NEAR(mhz_at(clock, 0), 345, 1);
  for (Nanoseconds at = 0; at < 20 * kMs; at += kMs)
    clock.takes(
        at, [](int) { return 1e6; }, true);
  EXPECT_NEAR(mhz_at(clock, 20 * kMs), 1162, 16);
  for (Nanoseconds at = 20 * kMs; at < 45 * kMs; at += kMs)
    clock.takes(
        at, [](int) { return 1e6; }, true);
  EXPECT_NEAR(mhz_at(clock, 45 * kMs), 1980, 4);
  EXPECT_NEAR(mhz_at(clock, 49 * kMs), 1980, 4) << "a short pause";
  EXPECT_NEAR(mhz_at(clock, 60 * kMs), 345, 1) << "a long one";
}

TEST(GpuClock, HasTheGpusOwnClockUnderLoadIfNobodyNamesOne) {
  RealClock given = settings();
  given.load_mhz = 0;
  given.ramp_ms = 0;
  GpuClock clock(given, 1755);
  EXPECT_NEAR(mhz_at(clock, 0), 1755, 4);
}

TEST(GpuClock, AKernelTakesTheClocksThatItRunsThrough) {
  GpuClock clock(settings(), 0);
  // 10 ms from 345 MHz on, in steps of 1 ms: cycles are the sum of the clocks.
  const Nanoseconds ns = clock.takes(0, cycles(5'300'000), true);
  EXPECT_NEAR(static_cast<double>(ns), 10e6, 0.5e6);
}

TEST(GpuClock, SaysWhatItDoesAndThatItIsIdle) {
  GpuClock clock(settings(), 0);
  clock.takes(
      0, [](int) { return 50e6; }, true);
  const GpuState working = clock.state(45 * kMs);
  EXPECT_EQ(working.mhz, 1980U);
  EXPECT_EQ(working.reasons, 0U);
  EXPECT_EQ(clock.state(52 * kMs).reasons, 1U);
  const GpuState idle = clock.state(60 * kMs);
  EXPECT_EQ(idle.mhz, 345U);
  EXPECT_EQ(idle.reasons, 1U);
  EXPECT_GT(idle.energy_mj, working.energy_mj);
  EXPECT_GE(idle.celsius, 32U);
}

TEST(GpuClock, IsThrottledAtALaunchForAWhileAndCountsIt) {
  RealClock given = settings();
  given.ramp_ms = 0;
  given.throttles = {{.at_launch = 3, .lasts_ms = 2, .mhz = 990, .reason = 0x20}};
  GpuClock clock(given, 0);
  Nanoseconds at = 0;
  const auto next = [&] {
    const Nanoseconds ns = clock.takes(at, cycles(1'980'000), true);
    at += ns;
    return ns;
  };
  EXPECT_EQ(next(), kMs);
  EXPECT_EQ(next(), kMs);
  EXPECT_EQ(next(), 2 * kMs);
  EXPECT_EQ(clock.state(at - kMs).mhz, 990U);
  EXPECT_EQ(clock.state(at - kMs).reasons, 0x20U);
  EXPECT_EQ(clock.state(at - kMs).reason_ns[5], kMs);
  EXPECT_EQ(next(), kMs);
  const GpuState end = clock.state(at);
  EXPECT_EQ(end.reason_ns[5], 2 * kMs);
  EXPECT_EQ(end.reason_ns[2], 0U);
  EXPECT_EQ(end.reasons, 1U) << "an idle GPU has no other reason";
}

TEST(GpuClock, IsThrottledAfterSoMuchWorkAndAgain) {
  RealClock given = settings();
  given.ramp_ms = 0;
  given.throttles = {{.after_ms = 10, .every_ms = 20, .lasts_ms = 4, .mhz = 495}};
  GpuClock clock(given, 0);
  Nanoseconds at = 0;
  Nanoseconds throttled = 0;
  while (at < 100 * kMs) {
    const Nanoseconds ns = clock.takes(at, cycles(198'000), true);
    if (ns > 150'000) throttled += ns;
    at += ns;
  }
  EXPECT_NEAR(static_cast<double>(throttled), 20e6, 3e6);
  EXPECT_NEAR(static_cast<double>(clock.state(at).reason_ns[2]), static_cast<double>(throttled), 1e6);
}

TEST(GpuClock, GivesSlicesToAnother) {
  RealClock given = settings();
  given.ramp_ms = 0;
  given.sharing = {.every_ms = 10, .slice_ms = 2, .memory_bytes = 7};
  GpuClock clock(given, 0);
  EXPECT_EQ(clock.takes(5 * kMs, cycles(1'980'000), true), kMs);
  EXPECT_EQ(clock.takes(11 * kMs, cycles(1'980'000), true), 2 * kMs) << "1 ms of the slice is left";
  EXPECT_EQ(clock.takes(19 * kMs, cycles(2 * 1'980'000), true), 4 * kMs) << "it is interrupted";
  EXPECT_EQ(clock.state(0).has_other, 1);
  EXPECT_EQ(clock.state(0).other_bytes, 7U);
}

}  // namespace
}  // namespace convladder::stand_in
