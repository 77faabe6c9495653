// Kernels looked at without running them: right ones of tests/checked_kernels have no finding, and values are followed
// through the arithmetic of addresses exactly, or not at all.
#include <gtest/gtest.h>

#include <string>

#include "simulator/lints/lint.hpp"
#include "simulator/marked_kernels.hpp"
#include "simulator/ptx/parser.hpp"
#include "simulator/ptx_kernels.hpp"

namespace convladder::simulated {
namespace {

/// A kernel of one block of 128 threads with registers of every type and a pointer in %rd1; %r1 = %tid.x.
LintedKernel looked_at(const std::string& body, Dim3 block = {128, 1, 1}) {
  const std::string text =
      kernel_text(".param .u64 out, .param .u32 n",
                  ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<40>; .reg .f64 %fd<9>;\n"
                  ".shared .align 4 .b8 tile[512];\n"
                  "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; ld.param.u32 %r2, [n];\n" +
                      body + "\nret;");
  const ptx::Module module = ptx::parse_module(text, "test.ptx");
  return lint(module, module.kernels.at(0), {.block = block, .gpu = find_gpu(kUsualGpu)});
}

/// A store of 4 bytes at out + %rd2.
const std::string kStoreThere = "add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], 0f00000000;";

/// The sectors of that store's request if there is a lint, 4 if it is understood and there is none, 0 if not.
double sectors(const std::string& address, Dim3 block = {128, 1, 1}) {
  const LintedKernel kernel = looked_at(address + kStoreThere, block);
  EXPECT_EQ(kernel.not_looked_at, "");
  for (const Lint& one : kernel.lints) {
    if (one.kind == LintKind::sectors) return one.cost->found;
  }
  return kernel.understood == 1 ? 4 : 0;
}

TEST(Lints, FollowAddresses) {
  EXPECT_EQ(sectors("mul.wide.u32 %rd2, %r1, 4;"), 4);
  EXPECT_EQ(sectors("mul.wide.u32 %rd2, %r1, 8;"), 8);
  EXPECT_EQ(sectors("shl.b32 %r3, %r1, 5; cvt.u64.u32 %rd2, %r3;"), 32);
  EXPECT_EQ(sectors("mad.lo.u32 %r3, %r1, 4, %r2; cvt.u64.u32 %rd2, %r3;"), 4);
  EXPECT_EQ(sectors("mul.lo.u32 %r3, %r1, %r2; cvt.u64.u32 %rd2, %r3;"), 32) << "lanes are a parameter apart";
  EXPECT_EQ(sectors("mul.lo.u32 %r3, %r1, %r1; mul.wide.u32 %rd2, %r3, 4;"), 31.5) << "squares are known";
  EXPECT_EQ(sectors("xor.b32 %r3, %r1, 31; mul.wide.u32 %rd2, %r3, 4;"), 4) << "backwards";
  EXPECT_EQ(sectors("rem.u32 %r3, %r1, 8; mul.wide.u32 %rd2, %r3, 64;"), 8);
  EXPECT_EQ(sectors("div.u32 %r3, %r1, 32; mul.wide.u32 %rd2, %r3, 64;"), 4) << "one for a warp";
}

TEST(Lints, FollowPartsOfUnknownMultiples) {
  // n * 64 + tid: its low bits and its quotient by 64 are known, or are another unknown number for all.
  const std::string sum = "mad.lo.u32 %r3, %r2, 64, %r1; ";
  EXPECT_EQ(sectors(sum + "and.b32 %r4, %r3, 63; mul.wide.u32 %rd2, %r4, 4;"), 4);
  EXPECT_EQ(sectors(sum + "shr.u32 %r4, %r3, 6; mul.wide.u32 %rd2, %r4, 4;"), 4);
  EXPECT_EQ(sectors(sum + "rem.u32 %r4, %r3, 64; mul.wide.u32 %rd2, %r4, 8;"), 8);
  EXPECT_EQ(sectors(sum + "or.b32 %r4, %r3, 0; mul.wide.u32 %rd2, %r4, 4;"), 4);
  // Below a multiple: the first thread's quotient is one less, and its remainder is not known.
  const std::string quotient = sum + "sub.u32 %r3, %r3, 1; shr.u32 %r4, %r3, 6; add.u32 %r4, %r4, 1; ";
  EXPECT_EQ(sectors(quotient + "mul.wide.u32 %rd2, %r4, 4;", {32, 1, 1}), 4) << "two neighbours";
  EXPECT_EQ(sectors(sum + "sub.u32 %r3, %r3, 1; rem.u32 %r4, %r3, 64; mul.wide.u32 %rd2, %r4, 4;"), 0);
  EXPECT_EQ(sectors(sum + "shr.u32 %r4, %r3, 7; mul.wide.u32 %rd2, %r4, 4;"), 0) << "n may be odd";
  EXPECT_EQ(sectors(sum + "rem.u32 %r4, %r3, 24; mul.wide.u32 %rd2, %r4, 4;"), 0);
}

TEST(Lints, ATurnedBlockHasOtherWarps) {
  const std::string rows = "mov.u32 %r3, %tid.y; mad.lo.u32 %r4, %r3, %r2, %r1; mul.wide.u32 %rd2, %r4, 4;";
  EXPECT_EQ(sectors(rows, {32, 4, 1}), 4);
  EXPECT_EQ(sectors(rows, {4, 32, 1}), 8) << "a warp has 8 rows of 4, far apart, of half a sector each";
}

TEST(Lints, AChoiceByThreadIsFollowed) {
  EXPECT_EQ(
      sectors("setp.lt.u32 %p1, %r1, 64; selp.b32 %r3, 4, 32, %p1; mul.lo.u32 %r4, %r3, %r1; cvt.u64.u32 %rd2, %r4;"),
      18)
      << "two warps with 4 sectors, two with 32";
}

TEST(Lints, ACounterOfALoopIsTheSameForAllInATrip) {
  const std::string loop = "mov.u32 %r3, 0;\nagain:\nmad.lo.u32 %r4, %r3, 128, %r1; mul.wide.u32 %rd2, %r4, 4;" +
                           kStoreThere + "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra again;";
  const LintedKernel kernel = looked_at(loop);
  EXPECT_EQ(kernel.understood, 1U);
  EXPECT_TRUE(kernel.lints.empty());
}

TEST(Lints, ACounterIsAnotherForEachBehindALoopThatThreadsLeaveOneByOne) {
  const std::string loop =
      "mov.u32 %r3, 0;\nagain:\nadd.u32 %r3, %r3, 1; ld.global.u32 %r5, [%rd1]; setp.lt.u32 %p1, %r3, %r1; @%p1 bra "
      "again;\nmul.wide.u32 %rd2, %r3, 4;" +
      kStoreThere;
  const LintedKernel kernel = looked_at(loop);
  EXPECT_EQ(kernel.accesses, 2U);
  EXPECT_EQ(kernel.understood, 1U) << "only the load in the loop";
}

TEST(Lints, ARegisterThatIsUsedAgainHasAValueAtEachPlace) {
  EXPECT_EQ(sectors("mul.lo.u32 %r3, %r1, 4; cvt.u64.u32 %rd2, %r3; mov.u32 %r3, %r2;"), 4);
}

TEST(Lints, ABlockTooLargeIsAFinding) {
  const ptx::Module module = ptx::parse_module(
      kernel_text("", ".shared .align 4 .b8 tile[300000];\n.reg .b32 %r<2>; mov.u32 %r1, tile; ret;"), "test.ptx");
  const LintedKernel kernel = lint(module, module.kernels.at(0), {.block = Dim3{128}, .gpu = find_gpu(kUsualGpu)});
  ASSERT_EQ(kernel.lints.size(), 1U);
  EXPECT_EQ(kernel.lints[0].kind, LintKind::block_size);
  EXPECT_EQ(kernel.lints[0].severity, Severity::finding);
}

TEST(Lints, RegistersDecideOverOccupancy) {
  const ptx::Module module = ptx::parse_module(kernel_text("", "ret;"), "test.ptx");
  const auto at = [&](int registers) {
    return lint(module, module.kernels.at(0), {.block = Dim3{256}, .gpu = find_gpu(kUsualGpu), .registers = registers});
  };
  // 65536 registers: 40 of 256 threads are 6 blocks of 8 warps, 42 are 5 (in units of 256 registers a warp).
  ASSERT_EQ(at(42).lints.size(), 1U);
  EXPECT_NE(at(42).lints[0].problem.find("with 40 registers instead of 42"), std::string::npos)
      << at(42).lints[0].problem;
  EXPECT_EQ(at(42).lints[0].cost->found, 40);
  EXPECT_EQ(at(42).lints[0].cost->possible, 48);
  EXPECT_TRUE(at(32).lints.empty()) << "all 64 warps";
}

TEST(Lints, InstructionsWithoutOperandsAreRefused) { EXPECT_NE(looked_at("ld.global.f32 %f1;").not_looked_at, ""); }

class RightKernelLookedAt : public testing::TestWithParam<MarkedKernel> {};

TEST_P(RightKernelLookedAt, HasNoFindings) {
  const FoundKernel found = find_marked(GetParam());
  if (found.module == nullptr) GTEST_SKIP() << "no nvcc in this build";
  const LintedKernel linted = lint(*found.module, *found.kernel, {.block = Dim3{128}});
  EXPECT_EQ(linted.not_looked_at, "");
  for (const Lint& one : linted.lints) EXPECT_EQ(one.severity, Severity::note) << one.problem;
}

INSTANTIATE_TEST_SUITE_P(Kernels, RightKernelLookedAt, testing::ValuesIn(marked_kernels("right")), name_of_kernel);

}  // namespace
}  // namespace convladder::simulated
