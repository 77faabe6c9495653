#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/ptx_kernels.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

/// Runs one warp whose lanes all read `in` into x (64 bits) and write y (64 bits).
std::uint64_t result_of(const std::string& body, std::uint64_t in) {
  KernelRun run(kernel_text(".param .u64 p, .param .u64 v",
                            ".reg .b64 at, x, y; .reg .b32 r<4>; .reg .b16 h<4>; .reg .pred p0, p1, p2;\n"
                            "ld.param.u64 at, [p]; ld.param.u64 x, [v];\n" +
                                body + "\nst.global.b64 [at], y; ret;"));
  const std::uint64_t out = run.array(std::vector<std::uint64_t>(1), "out");
  run.set(0, out);
  run.set(1, in);
  run.launch({1}, {32});
  return run.read<std::uint64_t>(out, 1)[0];
}

TEST(SimulatedPacking, FourHalvesOf64BitsInOrder) {
  EXPECT_EQ(result_of("mov.b64 {h0, h1, h2, h3}, x; mov.b64 y, {h3, h2, h1, h0};", 0x1111222233334444),
            0x4444333322221111U);
}

TEST(SimulatedPacking, TwoHalvesOf32BitsAndTwoOf64) {
  EXPECT_EQ(result_of("mov.b64 {r0, r1}, x; mov.b32 {h0, h1}, r0; mov.b32 r2, {h1, h0}; mov.b64 y, {r1, r2};",
                      0xaaaabbbbccccdddd),
            0xddddccccaaaabbbbU);
}

TEST(SimulatedPacking, BytesOf32Bits) {
  EXPECT_EQ(result_of("cvt.u32.u64 r0, x; mov.b32 {h0, h1, h2, h3}, r0; mov.b32 r1, {h3, h2, h1, h0}; "
                      "cvt.u64.u32 y, r1;",
                      0x01020384),
            0x84030201U);
}

TEST(SimulatedPacking, TwoBytesOf16Bits) {
  EXPECT_EQ(
      result_of(".reg .b8 c<2>; cvt.u16.u64 h0, x; mov.b16 {c0, c1}, h0; mov.b16 h1, {c1, c0}; cvt.u64.u16 y, h1;",
                0x12ab),
      0xab12U);
}

TEST(SimulatedPacking, VectorsAreMovedElementByElement) {
  EXPECT_EQ(result_of(".reg .v4 .u16 v; mov.b64 {h0, h1, h2, h3}, x; mov.v4.u16 v, {h1, h2, h3, h0};\n"
                      "mov.v4.u16 {h3, h0, h1, h2}, v; mov.v4.u16 {h0, h1, h2, h3}, {h1, h0, h3, h2};\n"
                      "mov.b64 y, {h0, h1, h2, h3};",
                      0x4444333322221111),
            0x1111222233334444U);
}

TEST(SimulatedPacking, AnElementMayBeIgnoredOrBeTheRegisterItself) {
  EXPECT_EQ(result_of("mov.b64 {_, r1}, x; cvt.u64.u32 y, r1;", 0x1234567800000000), 0x12345678U);
  EXPECT_EQ(result_of("mov.b64 {r0, r1}, x; mov.b32 {h0, h1}, r1; mov.b64 y, {r1, r1};", 0x0102030400000000),
            0x0102030401020304U);
}

TEST(SimulatedPacking, BitsAboveAnElementAreLeftOut) {
  // A signed conversion fills the slot of a 16-bit register with its sign.
  EXPECT_EQ(result_of("cvt.s16.s64 h0, x; mov.b16 h1, 0; mov.b32 r0, {h0, h1}; cvt.u64.u32 y, r0;", 0xffff), 0xffffU);
}

TEST(SimulatedPacking, ASetOfPredicatesMayBeIgnored) {
  const std::string rest = "selp.b64 y, 1, 0, p1;";
  EXPECT_EQ(result_of("setp.eq.u64 _|p1, x, 5; " + rest, 5), 0U);
  EXPECT_EQ(result_of("setp.eq.u64 p1|_, x, 5; " + rest, 5), 1U);
}

TEST(SimulatedPacking, AnotherNumberOfElementsIsRefused) {
  try {
    result_of("mov.b64 y, {r0, r1, r2};", 0);
    FAIL() << "accepted";
  } catch (const ptx::PtxError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'mov.b64': a vector of two or four elements is expected"));
  }
}

}  // namespace
}  // namespace convladder::simulated
