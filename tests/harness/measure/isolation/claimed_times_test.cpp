// What a case claims against what its answers took: by the clock, on processors, and waiting for one.
#include "harness/measure/isolation/claimed_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace convladder {
namespace {

constexpr double kMs = 1e6;

ClaimedTimes claims(const ObservedAnswer& observed, int answers = 5) {
  ClaimedTimes times;
  for (int i = 0; i < answers; ++i) times.add(10 * kMs, observed, true);
  return times;
}

TEST(ClaimedTimes, MayBeTrueWithinWhatAMessageTakes) {
  EXPECT_EQ(claims({.ns = 11 * kMs}).mismatch(), "");
  EXPECT_EQ(claims({.ns = 13.9 * kMs}).mismatch(), "");
  EXPECT_EQ(claims({.ns = 0}).mismatch(), "");
}

TEST(ClaimedTimes, AreRefusedWithBothFigures) {
  EXPECT_THAT(claims({.ns = 40 * kMs}).mismatch(),
              testing::AllOf(testing::HasSubstr("10.0 ms"), testing::HasSubstr("40.0 ms")));
  EXPECT_THAT(claims({.ns = 9 * kMs}).mismatch(), testing::HasSubstr("claims"));
}

TEST(ClaimedTimes, WaitingForAProcessorIsNotWork) {
  EXPECT_EQ(claims({.ns = 40 * kMs, .used_ns = 11 * kMs, .waited_ns = 28 * kMs}).mismatch(), "");
  EXPECT_NE(claims({.ns = 40 * kMs, .used_ns = 11 * kMs, .waited_ns = 5 * kMs}).mismatch(), "");
}

TEST(ClaimedTimes, WhoKeepsTheProcessorsBusyItselfHasNoExcuse) {
  const double all = std::max(1U, std::thread::hardware_concurrency());
  EXPECT_NE(claims({.ns = 40 * kMs, .used_ns = 40 * kMs * all, .waited_ns = 28 * kMs}).mismatch(), "");
}

TEST(ClaimedTimes, WorkIsWorkHoweverLongItWaitedBeside) {
  EXPECT_EQ(claims({.ns = 90 * kMs, .used_ns = 15 * kMs, .worked_ns = 12 * kMs, .waited_ns = 80 * kMs}).mismatch(), "");
  EXPECT_NE(claims({.ns = 90 * kMs, .used_ns = 15 * kMs, .worked_ns = 20 * kMs, .waited_ns = 80 * kMs}).mismatch(), "");
}

TEST(ClaimedTimes, ALittleTooLittleEveryTimeIsFoundInTheLeastDisturbedAnswer) {
  EXPECT_NE(claims({.ns = 15 * kMs}).mismatch(), "");
  ClaimedTimes times = claims({.ns = 15 * kMs});
  times.add(10 * kMs, {.ns = 13.5 * kMs}, true);
  EXPECT_EQ(times.mismatch(), "");
}

TEST(ClaimedTimes, WhatIsWrongInMostAnswersIsFoundInTheirMedian) {
  for (const double ns : {16 * kMs, 18 * kMs}) {
    ClaimedTimes times = claims({.ns = 11 * kMs}, 2);
    for (int i = 0; i < 3; ++i) times.add(10 * kMs, {.ns = ns}, true);
    EXPECT_EQ(times.mismatch().empty(), ns < 17 * kMs) << ns;
  }
}

TEST(ClaimedTimes, BesideOthersTheirTurnsAreInWhatIsObserved) {
  for (const bool is_beside_others : {false, true}) {
    ClaimedTimes times(is_beside_others);
    for (int i = 0; i < 3; ++i) times.add(1 * kMs, {.ns = 12 * kMs}, true);
    EXPECT_EQ(times.mismatch().empty(), is_beside_others);
    for (int i = 0; i < 4; ++i) times.add(1 * kMs, {.ns = 40 * kMs}, true);
    EXPECT_NE(times.mismatch(), "");
  }
}

TEST(ClaimedTimes, WhatIsDoneBesideTimedCallsIsNoneOfTheirClaims) {
  ClaimedTimes beside;
  beside.add(10 * kMs, {.ns = 39.5 * kMs}, true, 20 * kMs);
  EXPECT_EQ(beside.mismatch(), "");
  beside.add(10 * kMs, {.ns = 50 * kMs}, true, 20 * kMs);
  EXPECT_NE(beside.mismatch(), "");
  ClaimedTimes unknown;
  unknown.add(10 * kMs, {.ns = 90 * kMs}, false);
  EXPECT_EQ(unknown.mismatch(), "");
  unknown.add(10 * kMs, {.ns = 1 * kMs}, false);
  unknown.add(10 * kMs, {.ns = 1 * kMs}, false);
  EXPECT_NE(unknown.mismatch(), "") << "whatever else was done, it cannot have taken less";
}

}  // namespace
}  // namespace convladder
