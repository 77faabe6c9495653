// What a case claims against what its answers took: by the clock, on processors, and waiting for one.
#include "harness/isolation/claimed_times.hpp"

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
  EXPECT_NE(claims({.ns = 90 * kMs, .used_ns = 25 * kMs, .worked_ns = 20 * kMs, .waited_ns = 65 * kMs}).mismatch(), "");
}

}  // namespace
}  // namespace convladder
