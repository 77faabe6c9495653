// What video instructions refuse; what they compute is among the opcode vectors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/ptx_kernels.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

std::string video_refusal(const std::string& instruction) {
  try {
    KernelRun run(kernel_text(".param .u64 p", ".reg .b32 %r<9>; " + instruction + " ret;"));
  } catch (const ptx::PtxError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(SimulatedVideo, RefusesPartsThatAreNotThere) {
  EXPECT_EQ(video_refusal("vadd.s32.s32.s32 %r1, %r2.b3, %r3.h1;"), "nothing");
  EXPECT_THAT(video_refusal("vadd.s32.s32.s32 %r1, %r2.b4, %r3;"), HasSubstr("there is no part .b4 here"));
  EXPECT_THAT(video_refusal("vadd.s32.s32.s32 %r1, %r2.h2, %r3;"), HasSubstr("there is no part .h2 here"));
  EXPECT_THAT(video_refusal("vadd.s32.s32.s32 %r1, %r2.h10, %r3;"), HasSubstr("there is no part .h10 here"));
  EXPECT_THAT(video_refusal("vadd2.s32.s32.s32 %r1, %r2.h40, %r3, %r4;"), HasSubstr("there is no part .h40 here"));
  EXPECT_THAT(video_refusal("vadd2.s32.s32.s32 %r1, %r2.b10, %r3, %r4;"), HasSubstr("there is no part .b10 here"));
  EXPECT_THAT(video_refusal("vadd4.s32.s32.s32 %r1, %r2.b210, %r3, %r4;"), HasSubstr("a part is missing"));
  EXPECT_THAT(video_refusal("vadd4.s32.s32.s32 %r1.b7, %r2, %r3, %r4;"), HasSubstr("there is no part .b7 here"));
}

TEST(SimulatedVideo, RefusesWhatOnlyVideoInstructionsHave) {
  EXPECT_THAT(video_refusal("add.s32 %r1, %r2.b0, %r3;"), HasSubstr("the selector .b0 is not supported here"));
  EXPECT_THAT(video_refusal("add.s32 %r1.b0, %r2, %r3;"), HasSubstr("the selector .b0 is not supported here"));
  EXPECT_THAT(video_refusal("add.s32 %r1, -%r2, %r3;"), HasSubstr("only predicates can be negated"));
  EXPECT_THAT(video_refusal("vadd.s32.s32.s32 %r1, -%r2, %r3;"), HasSubstr("only operands of vmad can be negated"));
  EXPECT_EQ(video_refusal("vmad.s32.s32.s32 %r1, -%r2, %r3, %r4;"), "nothing");
}

TEST(SimulatedVideo, RefusesModifiersOfOthersAndAThirdOperandWithoutUse) {
  for (const char* const instruction :
       {"vadd.s32.s32.s32.clamp %r1, %r2, %r3;", "vshl.u32.u32.s32.clamp %r1, %r2, %r3;",
        "vset.s32.s32.sat.eq %r1, %r2, %r3;", "vmad.s32.s32.s32.add %r1, %r2, %r3, %r4;",
        "vadd.s16.s32.s32 %r1, %r2, %r3;"}) {
    EXPECT_THAT(video_refusal(instruction), HasSubstr("not supported by the simulated device")) << instruction;
  }
  EXPECT_THAT(video_refusal("vadd.s32.s32.s32 %r1, %r2, %r3, %r4;"), HasSubstr("a third operand is what a part"));
  EXPECT_THAT(video_refusal("vadd.s32.s32.s32 %r1.h0, %r2, %r3;"), HasSubstr("a third operand is what a part"));
}

}  // namespace
}  // namespace convladder::simulated
