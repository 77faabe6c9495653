#include "simulator/state/schedule.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <set>
#include <vector>

namespace convladder::simulated {
namespace {

constexpr ScheduledWork kLarge{.points = 1'000'000, .blocks = 8, .warps = 4};

/// The decisions of a schedule about a made-up block of four warps.
std::vector<std::size_t> decisions_of(std::uint64_t seed, const ScheduledWork& work) {
  Schedule schedule(seed, work);
  const std::vector<int> warps{0, 1, 2, 3};
  std::vector<std::size_t> decisions;
  for (int i = 0; i < 200; ++i) {
    const std::size_t next = schedule.next_warp(0, warps);
    const bool interrupts = schedule.interrupts(0, warps[next]);
    schedule.turn_ended(0, warps[next], !interrupts);
    decisions.insert(decisions.end(), {next, interrupts ? 1U : 0U, schedule.first_of(kAllLanes),
                                       schedule.lands_at_once() ? 1U : 0U, schedule.next_of(3), schedule.turns()});
  }
  return decisions;
}

TEST(Schedule, OfASeedIsAlwaysTheSame) {
  for (const std::uint64_t seed : {0U, 1U, 2U, 3U, 4U, 1000U}) {
    EXPECT_EQ(decisions_of(seed, kLarge), decisions_of(seed, kLarge)) << seed;
  }
}

TEST(Schedule, OfDifferentSeedsIsDifferent) {
  std::set<std::vector<std::size_t>> all;
  for (std::uint64_t seed = 0; seed < 50; ++seed) all.insert(decisions_of(seed, kLarge));
  EXPECT_EQ(all.size(), 50U);
}

TEST(Schedule, InterruptsOnceAtEveryPointOfASmallLaunchAndGoesToEveryOtherWarp) {
  constexpr ScheduledWork kSmall{.points = 10, .blocks = 1, .warps = 4};
  ASSERT_EQ(orders_with_one_interruption(kSmall), 30U);
  std::set<std::pair<int, std::size_t>> seen;
  const std::vector<int> warps{0, 1, 2, 3};
  for (std::uint64_t seed = 2; seed <= 60; seed += 2) {
    Schedule schedule(seed, kSmall);
    ASSERT_EQ(schedule.next_warp(0, warps), 0U);
    int at = 0;
    for (int point = 1; point <= 10; ++point) {
      if (!schedule.interrupts(0, 0)) continue;
      EXPECT_EQ(std::exchange(at, point), 0) << "a second interruption";
    }
    ASSERT_NE(at, 0) << seed;
    seen.emplace(at, schedule.next_warp(0, warps));
  }
  EXPECT_EQ(seen.size(), 30U);
}

TEST(Schedule, TriesNoListOfInterruptionsOfALargeLaunch) {
  EXPECT_EQ(orders_with_one_interruption(kLarge), 0U);
  EXPECT_EQ(orders_with_one_interruption({.points = ~std::uint64_t{0}, .blocks = 1, .warps = 32}), 0U);
  EXPECT_EQ(orders_with_one_interruption({.points = 100, .blocks = 1, .warps = 1}), 0U);
}

TEST(Schedule, GivesEveryWarpItsTurn) {
  const std::vector<int> warps{0, 2, 5, 7};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Schedule schedule(seed, kLarge);
    std::set<std::size_t> had;
    for (int i = 0; i < 300; ++i) {
      const std::size_t next = schedule.next_warp(3, warps);
      ASSERT_LT(next, warps.size());
      schedule.turn_ended(3, warps[next], true);
      had.insert(next);
    }
    EXPECT_EQ(had.size(), warps.size()) << seed;
  }
}

TEST(Schedule, BringsEachClusterIntoItsOrderOnce) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<std::uint64_t> clusters(17);
    std::iota(clusters.begin(), clusters.end(), 5);
    std::vector<std::uint64_t> ordered = clusters;
    Schedule(seed, kLarge).order(ordered);
    EXPECT_TRUE(std::ranges::is_permutation(clusters, ordered)) << seed;
  }
}

TEST(Schedule, TellsSomeOfTheLanesFromTheOthers) {
  bool tells = false;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    Schedule schedule(seed, kLarge);
    for (int i = 0; i < 20; ++i) {
      const LaneMask first = schedule.first_of(0x00f0);
      EXPECT_NE(first, 0U);
      EXPECT_EQ(first & ~LaneMask{0x00f0}, 0U);
      tells = tells || first != 0x00f0;
    }
  }
  EXPECT_TRUE(tells);
}

TEST(Schedule, KnowsWhatOthersSee) {
  for (const char* const opcode :
       {"ld.global.f32", "st.shared.v4.b32", "atom.global.add.u32", "red.shared.add.f32", "cp.async.ca.shared.global",
        "mbarrier.arrive.shared.b64", "membar.gl", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "fence.proxy.async",
        "ld.volatile.u32"}) {
    EXPECT_TRUE(is_seen_by_others(opcode)) << opcode;
  }
  for (const char* const opcode : {"add.f32", "ld.param.u64", "ld.local.f32", "st.local.f32", "ld.const.f32", "mov.u32",
                                   "bar.sync", "shfl.sync.down.b32", "mma.sync.aligned"}) {
    EXPECT_FALSE(is_seen_by_others(opcode)) << opcode;
  }
}

}  // namespace
}  // namespace convladder::simulated
