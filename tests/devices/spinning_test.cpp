#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

TEST(SimulatedSpinning, AWarpMayWaitForAnothersWrite) {
  LaneKernel kernel(
      "shr.u32 %r2, %r1, 5; setp.ne.u32 %p1, %r2, 0; @%p1 bra writes;\n"
      "wait: ld.volatile.shared.u32 %r3, [0]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait;\n"
      "st.global.u32 [%rd4], %r3; ret;\nwrites: mov.u32 %r4, 7; st.shared.u32 [0], %r4; ret;",
      Words(64), 64);
  EXPECT_EQ(kernel.results(64, 4)[31], 7U);
}

TEST(SimulatedSpinning, WhatNobodyWritesIsWaitedForForEver) {
  LaneKernel kernel("wait: ld.volatile.shared.u32 %r3, [0]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait; ret;", Words(64),
                    64);
  EXPECT_THAT(kernel.fault(64, 4), HasSubstr("synccheck: waits forever: the loop repeats and no other warp"));
  EXPECT_EQ(kernel.findings(64, 4).size(), 1U);
}

TEST(SimulatedSpinning, ALongLoopThatWorksIsLeftAlone) {
  LaneKernel kernel(
      "mov.u32 %r3, 0;\nloop: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 300000; @%p1 bra loop;\n"
      "st.global.u32 [%rd4], %r3; ret;",
      Words(64), 64);
  EXPECT_EQ(kernel.results(64)[63], 300000U);
}

TEST(SimulatedSpinning, TheBudgetOfOperationsEndsALaunch) {
  LaneKernel kernel("mov.u32 %r3, 0;\nloop: add.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra loop; ret;",
                    Words(32), 32);
  LaunchConfiguration configuration;
  configuration.grid = {4};
  configuration.block = {32};
  configuration.most_operations = 1000;
  EXPECT_THROW(kernel.run.launch(configuration), KernelFault);
  LaneKernel small("ret;", Words(32), 32);  // 8 operations a block
  configuration.most_operations = 32;
  EXPECT_NO_THROW(small.run.launch(configuration));
  configuration.most_operations = 31;
  EXPECT_THROW(small.run.launch(configuration), KernelFault);
}

}  // namespace
}  // namespace convladder::simulated
