#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

const std::string kSpot = "mul.lo.u32 %r2, %r1, 16; mul.wide.u32 %rd6, %r1, 16; add.s64 %rd7, %rd2, %rd6;\n";
const std::string kShow = "ld.shared.u32 %r3, [%r2]; st.global.u32 [%rd4], %r3;\n";

TEST(SimulatedAsynchronousCopy, IsNotSeenBeforeTheWait) {
  const Words values = noise(256);
  LaneKernel kernel(kSpot +
                        "cp.async.ca.shared.global [%r2], [%rd7], 4; cp.async.commit_group;\n"
                        "ld.shared.u32 %r3, [%r2]; st.global.u32 [%rd4], %r3; cp.async.wait_group 0;\n"
                        "ld.shared.u32 %r3, [%r2]; st.global.u32 [%rd4+4], %r3; ret;",
                    values, 64, 1, 2);
  const Words out = kernel.results(32, 512);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[2 * lane], 0U);
    EXPECT_EQ(out[2 * lane + 1], values[4 * lane]);
  }
}

TEST(SimulatedAsynchronousCopy, GroupsArriveInOrder) {
  const auto seen = [](const std::string& wait) {
    LaneKernel kernel(kSpot +
                          "cp.async.ca.shared.global [%r2], [%rd7], 4; cp.async.commit_group;\n"
                          "cp.async.ca.shared.global [%r2+4], [%rd7+4], 4; cp.async.commit_group;\n"
                          "cp.async.ca.shared.global [%r2+8], [%rd7+8], 4;\n" +
                          wait +
                          " ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];\nst.global.u32 [%rd4], %r3; "
                          "st.global.u32 [%rd4+4], %r4; st.global.u32 [%rd4+8], %r5; ret;",
                      Words(256, 9), 128, 1, 4);
    Words out = kernel.results(32, 512);
    return Words(out.begin(), out.begin() + 3);
  };
  EXPECT_EQ(seen(""), (Words{0, 0, 0}));  // never waited for: never there
  EXPECT_EQ(seen("cp.async.wait_group 2;"), (Words{0, 0, 0}));
  EXPECT_EQ(seen("cp.async.wait_group 1;"), (Words{9, 0, 0}));
  EXPECT_EQ(seen("cp.async.wait_group 0;"), (Words{9, 9, 0}));  // the third is in no group yet
  EXPECT_EQ(seen("cp.async.wait_all;"), (Words{9, 9, 9}));
}

TEST(SimulatedAsynchronousCopy, FillsWithZerosBehindTheSource) {
  const Words values = noise(128);
  for (const std::uint32_t size : {0U, 4U, 12U, 16U}) {
    LaneKernel kernel(kSpot + "mov.u32 %r7, -1; st.shared.v4.u32 [%r2], {%r7, %r7, %r7, %r7}; mov.u32 %r8, " +
                          std::to_string(size) +
                          "; cp.async.cg.shared.global [%r2], [%rd7], 16, %r8; cp.async.wait_all;\n"
                          "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2]; st.global.v4.u32 [%rd4], {%r3, %r4, %r5, %r6};"
                          " ret;",
                      values, 128, 1, 4);
    const Words out = kernel.results(32, 512);
    for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], i % 4 * 4 < size ? values[i] : 0U) << size << " " << i;
  }
}

TEST(SimulatedAsynchronousCopy, LanesThatPartHaveGroupsOfTheirOwn) {
  LaneKernel kernel(kSpot +
                        "cp.async.ca.shared.global [%r2], [%rd7], 4; cp.async.commit_group;\n"
                        "setp.lt.u32 %p1, %r1, 4; @%p1 cp.async.commit_group; cp.async.wait_group 1; " +
                        kShow + "ret;",
                    Words(256, 9), 32);
  const Words out = kernel.results(32, 512);
  EXPECT_EQ(out[3], 9U);
  EXPECT_EQ(out[4], 0U);
}

TEST(SimulatedAsynchronousCopy, CountsReadAndWriteAndFindsFaults) {
  LaneKernel kernel(kSpot + "cp.async.cg.shared.global [%r2], [%rd7], 16; cp.async.wait_all; ret;", Words(128), 32);
  const InstructionCounters counters = kernel.run.of(kernel.launch(32, 512), "cp.async.cg.shared.global");
  EXPECT_EQ(counters.requests, 1U);
  EXPECT_EQ(counters.sectors, 16U);
  EXPECT_EQ(counters.bytes, 512U);
  EXPECT_EQ(counters.wavefronts, 4U);
  EXPECT_THAT(kernel.fault(32, 256), HasSubstr("write of 16 bytes at offset 256 of 256 bytes of shared memory"));
  LaneKernel outside(kSpot + "cp.async.ca.shared.global [%r2], [%rd7+4], 4; ret;", Words(125), 32);
  EXPECT_THAT(outside.fault(32, 512), HasSubstr("0 bytes past the end of 'in'"));
  EXPECT_THROW(LaneKernel("cp.async.cg.shared.global [%r2], [%rd2], 8; ret;", Words(8), 8), ptx::PtxError);
  EXPECT_THROW(LaneKernel("cp.async.mbarrier.leave.shared.b64 [%r2]; ret;", Words(8), 8), ptx::PtxError);
}

TEST(SimulatedAsynchronousCopy, MayHaveACachePolicy) {
  const std::string policy = "createpolicy.fractional.L2::evict_first.b64 %rd9, 1.0;\n";
  for (const char* const copy :
       {"cp.async.ca.shared.global.L2::cache_hint [%r2], [%rd7], 4, %rd9;",
        "cp.async.ca.shared.global.L2::cache_hint [%r2], [%rd7], 4, 4, %rd9;",
        "cp.async.ca.shared::cta.global.L2::cache_hint.L2::128B [%r2], [%rd7], 4, %rd9;",
        "mov.u32 %r9, 4; cp.async.ca.shared.global.L2::128B.L2::cache_hint [%r2], [%rd7], 4, %r9, %rd9;",
        "setp.gt.u32 %p1, %r1, 99; cp.async.ca.shared.global.L2::cache_hint [%r2], [%rd7], 4, %p1, %rd9;",
        "cp.async.cg.shared.global.L2::cache_hint [%r2], [%rd7], 16, %rd9;"}) {
    LaneKernel kernel(kSpot + policy + copy + " cp.async.wait_all; " + kShow + "ret;", Words(256, 9), 32);
    EXPECT_EQ(kernel.results(32, 512)[3], 9U) << copy;
  }
  for (const char* const copy : {"cp.async.ca.shared.global.L2::cache_hint [%r2], [%rd7], 4;",
                                 "cp.async.ca.shared.global.L2::cache_hint [%r2], [%rd7], 4, %r3;",
                                 "cp.async.ca.shared.global.L2::cache_hint [%r2], [%rd7], 4, %r3, %rd9, %rd9;"}) {
    EXPECT_THROW(LaneKernel(copy, Words(8), 8), ptx::PtxError) << copy;
  }
}

}  // namespace
}  // namespace convladder::simulated
