// Which samples are thrown away because something held the device's clock down.
#include "harness/measure/cases/clock_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convladder {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ClockOfSample at(double clock_mhz) { return {.ns = 5e6, .clock_mhz = clock_mhz, .held_ns = {}}; }

ClockOfSample held(double clock_mhz, double ns) {
  return {.ns = 5e6, .clock_mhz = clock_mhz, .held_ns = {{"software power cap", ns}, {"sync", 0}}};
}

TEST(ClockWatch, SamplesOfOneClockStand) {
  ClockWatch watch;
  for (const double clock : {1980.0, 1965.0, 1935.0, 1980.0}) EXPECT_EQ(watch.why_spoiled(at(clock)), "");
  EXPECT_EQ(watch.taken_again(), 0);
  EXPECT_FALSE(watch.is_held());
}

TEST(ClockWatch, AReasonOfMoreThanItsShareSpoilsASampleWhateverTheClock) {
  ClockWatch watch;
  EXPECT_EQ(watch.why_spoiled(held(1980, 0.02 * 5e6)), "");
  EXPECT_EQ(watch.why_spoiled(held(1980, 2e6)), "software power cap for 40% of the time");
  EXPECT_THAT(watch.reasons(), ElementsAre("software power cap"));
  EXPECT_EQ(watch.taken_again(), 1);
}

TEST(ClockWatch, ALowClockSpoilsASampleForWhichNobodyGivesAReason) {
  ClockWatch watch;
  EXPECT_EQ(watch.why_spoiled(at(1980)), "");
  EXPECT_EQ(watch.why_spoiled(at(1700)), "1700 MHz, after 1980");
  EXPECT_EQ(watch.why_spoiled(held(1700, 3e6)), "1700 MHz, after 1980, software power cap");
  EXPECT_EQ(watch.why_spoiled(at(1980)), "");
}

TEST(ClockWatch, WhatWasTakenBeforeTheClockWasUpIsBelowTheLeast) {
  ClockWatch watch;
  EXPECT_EQ(watch.why_spoiled(at(1400)), "");
  EXPECT_EQ(watch.why_spoiled(at(1980)), "");
  EXPECT_GT(watch.least_mhz(), 1400);
  EXPECT_LT(watch.least_mhz(), 1950);
}

TEST(ClockWatch, ADeviceThatStaysDownIsTakenAsItIsAndSaysSo) {
  ClockWatch watch;
  EXPECT_EQ(watch.why_spoiled(at(1980)), "");
  for (int i = 0; i < ClockWatch::kMostInARow; ++i) EXPECT_NE(watch.why_spoiled(held(1410, 5e6)), "");
  EXPECT_EQ(watch.why_spoiled(held(1410, 5e6)), "");
  EXPECT_TRUE(watch.is_held());
  EXPECT_EQ(watch.why_spoiled(held(1400, 5e6)), "");
  // From that level it can fall again.
  EXPECT_THAT(watch.why_spoiled(held(1200, 5e6)), HasSubstr("1200 MHz, after 1410"));
}

TEST(ClockWatch, ADeviceThatComesUpAgainIsHeldNoLonger) {
  ClockWatch watch;
  for (int i = 0; i <= ClockWatch::kMostInARow; ++i) watch.why_spoiled(held(1410, 5e6));
  ASSERT_TRUE(watch.is_held());
  EXPECT_EQ(watch.why_spoiled(at(1980)), "");
  EXPECT_FALSE(watch.is_held());
  EXPECT_GT(watch.least_mhz(), 1410);
}

TEST(ClockWatch, ADeviceThatNeverStaysAtALevelComesToAnEnd) {
  ClockWatch watch;
  int stand = 0;
  for (int i = 0; i < 3 * ClockWatch::kMostTakenAgain; ++i) {
    stand += watch.why_spoiled(at(i % 3 == 0 ? 500 + i : 400 + i)).empty() ? 1 : 0;
  }
  EXPECT_EQ(watch.taken_again(), ClockWatch::kMostTakenAgain);
  EXPECT_EQ(stand, 2 * ClockWatch::kMostTakenAgain);
  EXPECT_EQ(watch.least_mhz(), 0);
}

TEST(ClockWatch, WithoutAClockTheReasonsDecide) {
  ClockWatch watch;
  const ClockOfSample free{.ns = 5e6, .clock_mhz = std::nullopt, .held_ns = {{"heat", 0}}};
  const ClockOfSample hot{.ns = 5e6, .clock_mhz = std::nullopt, .held_ns = {{"heat", 5e6}}};
  EXPECT_EQ(watch.why_spoiled(free), "");
  for (int i = 0; i < ClockWatch::kMostInARow; ++i) EXPECT_NE(watch.why_spoiled(hot), "");
  EXPECT_EQ(watch.why_spoiled(hot), "");
  EXPECT_TRUE(watch.is_held());
  EXPECT_EQ(watch.why_spoiled(free), "");
  EXPECT_FALSE(watch.is_held());
}

}  // namespace
}  // namespace convladder
