// Which of several ways is quicker, on a device whose clock will not stand still.
#include "variants/timed_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace convladder {
namespace {

/// A call takes its cost, divided by how fast the clock is then: it swings slowly, and rises from a third at the start.
class SwingingDevice final : public Device {
 public:
  SwingingDevice(double swing, double phase) : swing_(swing), phase_(phase) {}

  void run(double cost) {
    ++calls;
    const double warm = std::min(1.0, 0.33 + calls / 300.0);
    now_ += cost / (warm * (1 + swing_ * std::sin(calls / 50.0 + phase_)));
  }
  double time_ns(const std::function<void()>& work) override {
    const double begin = now_;
    work();
    return now_ - begin;
  }
  bool can_flush_caches() const override { return true; }
  void flush_caches() override { ++flushes; }

  std::size_t free_bytes() const override { return 0; }
  DeviceBuffer allocate(std::size_t /*bytes*/, std::string_view /*label*/) override { return {}; }
  void copy_to_device(void*, const void*, std::size_t) override {}
  void copy_to_host(void*, const void*, std::size_t) override {}
  void launch(const KernelLaunch&) override {}
  void wait() override {}

  int calls = 0;
  int flushes = 0;

 private:
  void free(void*, std::size_t) noexcept override {}
  double swing_, phase_;
  double now_ = 0;
};

TEST(TimedChoice, FindsTheQuickerOneWhereverTheClockIs) {
  for (int phase = 0; phase < 6; ++phase) {
    for (const std::vector<double>& costs : {std::vector<double>{1000, 1008}, {1008, 1000}, {1016, 1008, 1000}}) {
      SwingingDevice device(0.3, phase);
      const std::vector<double> times =
          times_of_ways(device, costs.size(), [&](std::size_t way) { device.run(costs[way]); });
      ASSERT_EQ(times.size(), costs.size());
      for (std::size_t a = 0; a < costs.size(); ++a) {
        for (std::size_t b = 0; b < costs.size(); ++b) {
          if (costs[a] < costs[b]) {
            EXPECT_LT(times[a], times[b]) << a << " and " << b << " at phase " << phase;
          }
        }
      }
    }
  }
}

TEST(TimedChoice, TimesAreThoseOfAWarmDevice) {
  SwingingDevice device(0, 0);
  const std::vector<double> costs = {500, 700, 400};
  const std::vector<double> times =
      times_of_ways(device, costs.size(), [&](std::size_t way) { device.run(costs[way]); });
  for (std::size_t way = 0; way < costs.size(); ++way) EXPECT_DOUBLE_EQ(std::round(times[way]), costs[way]);
}

TEST(TimedChoice, WhatTakesTooLongIsTimedOnceBehindAFlush) {
  SwingingDevice device(0, 0);
  std::vector<int> runs(2);
  const std::vector<double> times = times_of_ways(device, 2, [&](std::size_t way) {
    ++runs[way];
    device.run(way == 0 ? 100 : 400);
  });
  EXPECT_DOUBLE_EQ(std::round(times[1]), 400);
  EXPECT_EQ(runs[0] - runs[1], 12) << "six rounds of a call to fill the caches and one that is timed";
  EXPECT_EQ(device.flushes, 8);
}

TEST(TimedChoice, OfNothingIsNothing) {
  SwingingDevice device(0, 0);
  EXPECT_TRUE(times_of_ways(device, 0, [](std::size_t) {}).empty());
}

}  // namespace
}  // namespace convladder
