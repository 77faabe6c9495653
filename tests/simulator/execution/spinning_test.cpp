#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(SimulatedSpinning, AWarpMayWaitForAnothersWrite) {
  LaneKernel kernel(
      "shr.u32 %r2, %r1, 5; setp.ne.u32 %p1, %r2, 0; @%p1 bra writes;\n"
      "wait: ld.volatile.shared.u32 %r3, [0]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait;\n"
      "st.global.u32 [%rd4], %r3; ret;\nwrites: mov.u32 %r4, 7; st.shared.u32 [0], %r4; ret;",
      Words(64), 64);
  EXPECT_EQ(kernel.results(64, 4)[31], 7U);
}

TEST(SimulatedSpinning, AWarpMayWaitForRowsOfAMatrix) {
  LaneKernel kernel(
      "shr.u32 %r2, %r1, 5; setp.ne.u32 %p1, %r2, 0; @%p1 bra writes;\n"
      "wait: ld.volatile.shared.u32 %r3, [0]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait;\n"
      "st.global.u32 [%rd4], %r3; ret;\nwrites: mov.u32 %r4, 7; and.b32 %r5, %r1, 7; shl.b32 %r5, %r5, 4;\n"
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r4}; ret;",
      Words(64), 64);
  EXPECT_EQ(kernel.results(64, 128)[31], 7U);
}

TEST(SimulatedSpinning, ALoopThatSleepsLetsOthersRunAtOnce) {
  LaneKernel kernel(
      "mov.u32 %r5, 0; shr.u32 %r2, %r1, 5; setp.ne.u32 %p1, %r2, 0; @%p1 bra writes;\n"
      "wait: add.u32 %r5, %r5, 1; nanosleep.u32 100; ld.volatile.shared.u32 %r3, [0]; setp.eq.u32 %p2, %r3, 0;\n"
      "@%p2 bra wait; st.global.u32 [%rd4], %r5; ret;\nwrites: mov.u32 %r4, 7; st.shared.u32 [0], %r4; ret;",
      Words(64), 64);
  EXPECT_EQ(kernel.results(64, 4)[31], 2U);  // times that it looked
}

TEST(SimulatedSpinning, WhatNobodyWritesIsWaitedForForEver) {
  LaneKernel kernel("wait: ld.volatile.shared.u32 %r3, [0]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait; ret;", Words(64),
                    64);
  EXPECT_THAT(kernel.fault(64, 4), HasSubstr("synccheck: waits forever: the loop repeats and no other warp"));
  EXPECT_EQ(kernel.findings(64, 4).size(), 1U);
}

TEST(SimulatedSpinning, ALoopFromBarrierToBarrierMayWaitForEver) {
  LaneKernel kernel(
      "wait: ld.shared.u32 %r3, [0]; st.shared.u32 [4], %r3; bar.sync 0; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait; ret;",
      Words(64), 64);
  EXPECT_THAT(kernel.fault(64, 8), HasSubstr("synccheck: waits forever: the loop repeats and no other warp"));
}

TEST(SimulatedSpinning, ALongLoopThatWorksIsLeftAlone) {
  LaneKernel kernel(
      "mov.u32 %r3, 0;\nloop: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 300000; @%p1 bra loop;\n"
      "st.global.u32 [%rd4], %r3; ret;",
      Words(64), 64);
  EXPECT_EQ(kernel.results(64)[63], 300000U);
}

/// A loop whose register has another value in every turn; `inside` is carried out in each.
LaneKernel endless(const std::string& inside = "") {
  return LaneKernel("mov.u32 %r3, 0;\nloop: add.u32 %r3, %r3, 1;\n" + inside + "bra loop;", Words(32), 32);
}

LaunchConfiguration four_blocks() {
  LaunchConfiguration configuration;
  configuration.grid = {4};
  configuration.block = {32};
  return configuration;
}

TEST(SimulatedSpinning, ALaunchEndsAtItsLimitOfOperations) {
  LaneKernel kernel = endless();
  LaunchConfiguration configuration = four_blocks();
  configuration.limits.operations = 1000;
  const LaunchResult stopped = kernel.run.launch(configuration);
  EXPECT_THAT(stopped.stopped,
              StartsWith("after 1,000 instructions, with 0 of 4 blocks done: 'bra' in test, PTX line"));
  EXPECT_NEAR(static_cast<double>(kernel.run.of(stopped, "bra").warps), 500, 5);  // what was executed is counted
  LaneKernel small("ret;", Words(32), 32);                                        // 8 operations a block
  configuration.limits.operations = 32;
  EXPECT_EQ(small.run.launch(configuration).stopped, "");
  configuration.limits.operations = 31;
  EXPECT_THAT(small.run.launch(configuration).stopped, StartsWith("after 31 instructions, with 4 of 4 blocks"));
}

TEST(SimulatedSpinning, ALaunchEndsAfterOperationsThatChangeNoMemory) {
  LaunchConfiguration configuration = four_blocks();
  configuration.limits.operations_without_change = 50'000;
  for (const int host_threads : {1, 2, 7}) {
    configuration.host_threads = host_threads;
    LaneKernel kernel = endless();
    EXPECT_THAT(kernel.run.launch(configuration).stopped,
                StartsWith("after 50,000 instructions of one block that changed no memory: 'bra' in test, PTX line"));
  }
  LaneKernel waits = endless("bar.sync 0;\n");
  EXPECT_THAT(waits.run.launch(configuration).stopped, HasSubstr("changed no memory"));
  // As long a loop that stores goes on, up to the other limit.
  configuration.limits.operations = 1'000'000;
  LaneKernel stores = endless("st.global.u32 [%rd4], %r3;\n");
  EXPECT_THAT(stores.run.launch(configuration).stopped, StartsWith("after 1,000,000 instructions"));
}

TEST(SimulatedSpinning, WhoWatchesALaunchSeesHowFarItIsAndEndsIt) {
  LaneKernel kernel = endless();
  LaunchConfiguration configuration = four_blocks();
  int looks = 0;
  LaunchProgress seen;
  configuration.limits.watch = [&](const LaunchProgress& progress) {
    seen = progress;
    return ++looks == 3 ? "after three looks" : "";
  };
  EXPECT_THAT(kernel.run.launch(configuration).stopped, StartsWith("after three looks: 'bra' in test, PTX line"));
  EXPECT_EQ(seen.blocks, 4U);
  EXPECT_EQ(seen.blocks_ended, 0U);
  EXPECT_GT(seen.operations, 8000U);
}

}  // namespace
}  // namespace convladder::simulated
