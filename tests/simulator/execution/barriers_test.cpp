#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

const std::string kStore = "st.global.u32 [%rd4], %r3; ret;";
const std::string kWarp = "shr.u32 %r2, %r1, 5;\n";  // number of the warp

TEST(SimulatedBarriers, ReduceOverTheBlock) {
  const auto reduce = [](const std::string& below, const std::string& text) {
    LaneKernel kernel("setp.lt.u32 %p1, %r1, " + below + "; " + text + kStore, Words(80), 80);
    return kernel.results(80);
  };
  EXPECT_EQ(reduce("50", "bar.red.popc.u32 %r3, 0, %p1; "), Words(80, 50));
  EXPECT_EQ(reduce("50", "barrier.cta.red.popc.aligned.u32 %r3, 0, !%p1; "), Words(80, 30));
  EXPECT_EQ(reduce("80", "bar.red.and.pred %p2, 0, %p1; selp.u32 %r3, 1, 0, %p2; "), Words(80, 1));
  EXPECT_EQ(reduce("79", "bar.red.and.pred %p2, 0, %p1; selp.u32 %r3, 1, 0, %p2; "), Words(80, 0));
  EXPECT_EQ(reduce("1", "bar.red.or.pred %p2, 0, %p1; selp.u32 %r3, 1, 0, %p2; "), Words(80, 1));
  EXPECT_EQ(reduce("0", "bar.red.or.pred %p2, 0, %p1; selp.u32 %r3, 1, 0, %p2; "), Words(80, 0));
}

TEST(SimulatedBarriers, ANamedBarrierHoldsThoseItCounts) {
  // Warp 1 writes for warp 0, which waits at barrier 5 for both of them; warp 2 takes no part. The number is a
  // register.
  LaneKernel kernel(kWarp +
                        "mov.u32 %r3, 0; mov.u32 %r5, 5; setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r2, 1;\n"
                        "@%p1 bar.sync %r5, 64; @%p1 ld.shared.u32 %r3, [0];\n"
                        "mov.u32 %r4, 42; @%p2 st.shared.u32 [0], %r4; @%p2 bar.arrive 5, 64; " +
                        kStore,
                    Words(96), 96);
  const Words out = kernel.results(96, 4);
  EXPECT_EQ(out[0], 42U);
  EXPECT_EQ(out[95], 0U);
}

TEST(SimulatedBarriers, WaitingForEverIsAFaultThatSaysWhoWaits) {
  LaneKernel kernel(kWarp + "setp.eq.u32 %p1, %r2, 0; @%p1 bar.sync 1, 64; @!%p1 bar.sync 2, 96; ret;", Words(64), 64);
  const std::string fault = kernel.fault(64);
  EXPECT_THAT(fault, HasSubstr("deadlock: waits forever at barrier 1, where 32 of 64 threads have arrived"));
  EXPECT_THAT(fault, HasSubstr("warp 1 waits at barrier 2, where 32 of 96 threads have arrived"));
  EXPECT_EQ(kernel.findings(64).size(), 1U);
}

TEST(SimulatedBarriers, WrongOperandsAreFaults) {
  LaneKernel number("mov.u32 %r5, 16; bar.sync %r5; ret;", Words(32), 32);
  EXPECT_THAT(number.fault(), HasSubstr("barrier 16; they are numbered from 0 to 15"));
  LaneKernel odd("mov.u32 %r5, 33; bar.sync 1, %r5; ret;", Words(32), 32);
  EXPECT_THAT(odd.fault(), HasSubstr("a barrier for 33 threads; a multiple of 32 is expected"));
  LaneKernel mixed(kWarp + "setp.eq.u32 %p1, %r2, 0; @%p1 bar.sync 1, 64; @!%p1 bar.sync 1, 96; ret;", Words(64), 64);
  EXPECT_THAT(mixed.fault(64), HasSubstr("barrier 1 for 96 threads, while others wait for 64 threads"));
  EXPECT_THROW(LaneKernel("bar.sync 16; ret;", Words(32), 32), ptx::PtxError);
  EXPECT_THROW(LaneKernel("barrier.cluster.leave; ret;", Words(32), 32), ptx::PtxError);
}

TEST(SimulatedBarriers, DivergentCodeIsFoundAndDoesNotHang) {
  LaneKernel kernel(
      "mov.u32 %r3, 1; setp.lt.u32 %p1, %r1, 5; @%p1 bra other; bar.sync 0; bra meet;\n"
      "other: bar.sync 0;\nmeet: " +
          kStore,
      Words(64), 64);
  EXPECT_FALSE(kernel.findings(64).empty());
  EXPECT_EQ(kernel.result(), Words(64, 1));
}

TEST(SimulatedBarriers, AWarpsBarrierNeedsItsLanesHere) {
  LaneKernel partial("bar.warp.sync -1; mov.u32 %r3, 1; " + kStore, Words(40), 40);
  EXPECT_EQ(partial.results(40), Words(40, 1));  // the last warp has 8 threads
  LaneKernel not_named("bar.warp.sync 1; ret;", Words(32), 32);
  EXPECT_THAT(not_named.fault(), HasSubstr("the mask 0x00000001 does not name 31 threads that execute this"));
}

TEST(SimulatedBarriers, ATrapEndsTheLaunch) {
  LaneKernel kernel("setp.eq.u32 %p1, %r1, 3; @%p1 trap; membar.gl; fence.acq_rel.sys; nanosleep.u32 20; ret;",
                    Words(32), 32);
  EXPECT_THAT(kernel.fault(), HasSubstr("a trap was executed: 'trap' in test"));
  // There is no debugger that a breakpoint could wake.
  LaneKernel breakpoint("setp.eq.u32 %p1, %r1, 5; @%p1 brkpt; st.global.u32 [%rd4], %r1; ret;", Words(32), 32);
  EXPECT_THAT(breakpoint.fault(), HasSubstr("a trap was executed: 'brkpt' in test"));
}

TEST(SimulatedBarriers, WithCheckersATrapEndsItsBlockToo) {
  // The other lanes of its warp do not go on without it, and other warps go no further than their barrier.
  LaneKernel kernel(
      "and.b32 %r2, %r1, 31; setp.eq.u32 %p1, %r2, 3; @%p1 trap; shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1;\n"
      "WAIT: bar.sync 0; ld.volatile.shared.u32 %r4, [0]; setp.eq.u32 %p2, %r4, 0; @%p2 bra WAIT;\n"
      "st.global.u32 [%rd4], %r1; ret;",
      Words(64), 64);
  const std::vector<Finding> found = kernel.findings(64, 16);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(to_text(found[0]), HasSubstr("a trap was executed: 'trap' in test"));
  EXPECT_EQ(found[0].count, 2U);  // each warp has one
}

TEST(SimulatedHints, ChangeNothing) {
  LaneKernel kernel(
      "griddepcontrol.wait; setmaxnreg.inc.sync.aligned.u32 64; setmaxnreg.dec.sync.aligned.u32 40; pmevent 7;\n"
      "pmevent.mask 3; griddepcontrol.launch_dependents; st.global.u32 [%rd4], %r1; ret;",
      Words(32), 32);
  const Words out = kernel.results();
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane);
}

TEST(SimulatedBarriers, OneThatAPartOfTheBlockExecutesIsFound) {
  const auto found = [](const std::string& body, unsigned threads = 128) {
    LaneKernel kernel("mov.u32 %r3, 1; setp.lt.u32 %p1, %r1, 64; " + body, Words(128), 128);
    std::string texts;
    for (const Finding& finding : kernel.findings(threads)) texts += to_text(finding) + "\n";
    EXPECT_EQ(kernel.result()[100], threads > 100 ? 1U : 0xffffffffU) << body;
    return texts;
  };
  const std::string half = "@%p1 bra L;\nbar.sync 0;\nL: bar.sync 0; " + kStore;
  EXPECT_THAT(found(half), HasSubstr("synccheck: only a part of the block executes this barrier: 64 of 128 threads; "
                                     "others meet them at PTX line"));
  EXPECT_THAT(found("@%p1 bra L;\nbar.sync 0; bra M;\nL: bar.sync 0;\nM: " + kStore), HasSubstr("64 of 128 threads"));
  EXPECT_THAT(found("setp.lt.u32 %p1, %r1, 32; @%p1 bra L;\nbar.sync 0; bra M;\nL: bar.sync 0;\nM: " + kStore),
              HasSubstr("32 of 128 threads"));
  EXPECT_THAT(found("@%p1 bra L;\nbar.red.popc.u32 %r4, 0, %p1;\nL: barrier.sync.aligned 0; " + kStore),
              HasSubstr("64 of 128 threads"));
  // Nothing is wrong if the others have returned, in a loop of all, for barriers that count, and for those of threads.
  EXPECT_EQ(found("@%p1 bra E; bar.sync 0; " + kStore + " E: ret;"), "");
  EXPECT_EQ(found("mov.u32 %r5, 3; L: bar.sync 0; sub.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra L; " + kStore),
            "");
  EXPECT_EQ(found("@%p1 bra L;\nbar.sync 1, 128; bra M;\nL: bar.sync 1, 128;\nM: " + kStore), "");
  EXPECT_EQ(found("@%p1 bra L;\nbar.sync 1, 64; bra M;\nL: bar.sync 2, 64;\nM: " + kStore), "");
  EXPECT_EQ(found("@%p1 bra L;\nbarrier.sync 0; bra M;\nL: barrier.sync 0;\nM: " + kStore), "");
  LaneKernel unchecked("mov.u32 %r3, 1; setp.lt.u32 %p1, %r1, 64; " + half, Words(128), 128);
  EXPECT_EQ(unchecked.results(128), Words(128, 1));
}

}  // namespace
}  // namespace convladder::simulated
