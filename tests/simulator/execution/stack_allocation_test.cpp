#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

TEST(SimulatedStack, EveryThreadHasMemoryOfItsOwnAndGetsItBack) {
  // Two pieces, of 4 (lane + 1) and 8 bytes; the second one is given back and taken again.
  LaneKernel kernel(
      ".local .b32 fixed; st.local.u32 [fixed], 77;\n"
      "mad.lo.u32 %r2, %r1, 4, 4; cvt.u64.u32 %rd6, %r2; alloca.u64 %rd7, %rd6; st.local.u32 [%rd7], %r1;\n"
      "stacksave.u64 %rd8; alloca.u64 %rd9, 8, 64; st.local.u32 [%rd9], 1000; and.b64 %rd10, %rd9, 63;\n"
      "stackrestore.u64 %rd8; alloca.u64 %rd11, 8, 64; ld.local.u32 %r3, [%rd11]; ld.local.u32 %r4, [%rd7];\n"
      "setp.ne.u64 %p1, %rd9, %rd11; selp.u32 %r5, 1, 0, %p1; cvt.u32.u64 %r6, %rd10; ld.local.u32 %r7, [fixed];\n"
      "st.global.v4.u32 [%rd4], {%r3, %r4, %r5, %r6}; st.global.u32 [%rd4+16], %r7; ret;",
      Words(32), 256, 1, 8);
  const Words out = kernel.results();
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(Words(out.begin() + 8 * lane, out.begin() + 8 * lane + 5), (Words{1000, lane, 0, 0, 77}));
  }
}

TEST(SimulatedStack, TakingMoreThanThereIsIsAFault) {
  LaneKernel kernel("alloca.u32 %r2, 16000; alloca.u32 %r2, 1000; st.global.u32 [%rd4], %r2; ret;", Words(32), 32);
  EXPECT_THAT(kernel.fault(), HasSubstr("stack overflow: alloca of 1000 bytes with 16000 of 16384 bytes in use"));
  LaneKernel loop("again: alloca.u32 %r2, 64; bra again;", Words(32), 32);
  EXPECT_THAT(loop.fault(), HasSubstr("stack overflow"));
}

}  // namespace
}  // namespace convladder::simulated
