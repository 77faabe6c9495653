#include "harness/measure/sharding/sentinels.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

SentinelRun ran(std::size_t machine, double median, double half_width = 0.01, const std::string& id = "s") {
  return {.id = id,
          .machine = machine,
          .failure = {},
          .median = median,
          .low = median * (1 - half_width),
          .high = median * (1 + half_width)};
}

SentinelRun failed(std::size_t machine) {
  return {.id = "s", .machine = machine, .failure = "incorrect", .median = 0, .low = {}, .high = {}};
}

std::vector<std::size_t> off(const std::vector<MachineVerdict>& verdicts) {
  std::vector<std::size_t> machines;
  for (const MachineVerdict& one : verdicts) {
    if (one.off) machines.push_back(one.machine);
  }
  return machines;
}

TEST(Sentinels, AMachineBeyondTheLimitIsOff) {
  const auto verdicts = judge_machines({ran(0, 100), ran(1, 103), ran(2, 130), ran(3, 98)}, {0, 0, 0, 0});
  EXPECT_EQ(off(verdicts), std::vector<std::size_t>{2});
  EXPECT_NEAR(*verdicts[2].x, 130 / 101.5, 1e-9);
  EXPECT_NE(verdicts[2].why.find("1.28 times"), std::string::npos) << verdicts[2].why;
}

TEST(Sentinels, AFasterMachineIsOffAsWell) {
  EXPECT_EQ(off(judge_machines({ran(0, 100), ran(1, 60), ran(2, 101)}, {0, 0, 0})), std::vector<std::size_t>{1});
}

TEST(Sentinels, AnIntervalThatReachesTheLimitIsNotOff) {
  EXPECT_TRUE(off(judge_machines({ran(0, 100), ran(1, 115, 0.06), ran(2, 101)}, {0, 0, 0})).empty());
  EXPECT_FALSE(off(judge_machines({ran(0, 100), ran(1, 115, 0.01), ran(2, 101)}, {0, 0, 0})).empty());
}

TEST(Sentinels, OfTwoMachinesItCannotBeTold) {
  const auto verdicts = judge_machines({ran(0, 100), ran(1, 200)}, {0, 0});
  EXPECT_TRUE(off(verdicts).empty());
  EXPECT_NEAR(*verdicts[1].x / *verdicts[0].x, 2, 1e-9);
}

TEST(Sentinels, OtherKindsOfMachinesAreOthers) {
  const auto verdicts =
      judge_machines({ran(0, 100), ran(1, 101), ran(2, 99), ran(3, 300), ran(4, 301), ran(5, 299)}, {0, 0, 0, 1, 1, 1});
  EXPECT_TRUE(off(verdicts).empty());
}

TEST(Sentinels, OneBadMomentOfAMachineIsNotTheMachine) {
  EXPECT_TRUE(
      off(judge_machines({ran(0, 100), ran(1, 100), ran(2, 100), ran(2, 180), ran(2, 101)}, {0, 0, 0})).empty());
}

TEST(Sentinels, WhatFailsOnSomeMachinesOnlyIsTheirFault) {
  EXPECT_EQ(off(judge_machines({ran(0, 100), failed(1), ran(2, 100)}, {0, 0, 0})), std::vector<std::size_t>{1});
  EXPECT_TRUE(off(judge_machines({failed(0), failed(1)}, {0, 0})).empty());
}

TEST(Sentinels, EveryDeviceHasItsOwn) {
  const auto verdicts = judge_machines(
      {ran(0, 100), ran(1, 100), ran(2, 100), ran(0, 5, 0.01, "g"), ran(1, 9, 0.01, "g"), ran(2, 5, 0.01, "g")},
      {0, 0, 0});
  EXPECT_EQ(off(verdicts), std::vector<std::size_t>{1});
  EXPECT_NEAR(*verdicts[1].x, 1.8, 1e-9);
}

}  // namespace
}  // namespace convladder
