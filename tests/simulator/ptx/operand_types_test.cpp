// Registers and the types of instructions: what ptxas of CUDA 13 takes and refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/instructions/decoder.hpp"
#include "simulator/ptx/parser.hpp"

namespace convladder::ptx {
namespace {

using testing::HasSubstr;

std::string refusal_of(const std::string& instruction) {
  const Module module = parse_module(
      ".version 8.0\n.target sm_90\n.address_size 64\n.entry test(.param .u64 p)\n{\n"
      ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .u16 %uh; .reg .s16 %sh; .reg .f16 %fh; .reg .b32 %r<9>; .reg .u32 %u;\n"
      ".reg .s32 %s; .reg .f32 %f<4>; .reg .f16x2 %hh; .reg .b64 %rd<4>; .reg .u64 %ud; .reg .f64 %d<4>; .reg .b128 "
      "%q;\n" +
          instruction + "\nret;\n}\n",
      "test.ptx");
  if (module.kernels.at(0).refusal) return module.kernels[0].refusal->what;
  const auto all = simulated::refusals(module, module.kernels[0]);
  return all.empty() ? std::string() : all[0].what;
}

TEST(OperandTypes, RegistersThatDoNotFitAreRefused) {
  for (const char* const instruction : {"add.s16 %h1, %h2, %r1;",
                                        "add.u32 %r1, %h1, 1;",
                                        "add.u64 %rd1, %rd1, %r1;",
                                        "add.f32 %f1, %d1, %d1;",
                                        "add.u32 %f1, %f2, %f2;",
                                        "add.f32 %s, %f1, %f1;",
                                        "setp.eq.u32 %r2, %r1, 7;",
                                        "setp.eq.u32 %p1, %f1, 7;",
                                        "setp.lt.f64 %p1, %f1, %f2;",
                                        "selp.u32 %f1, %r1, %r2, %p1;",
                                        "selp.f64 %d1, %ud, %d2, %p1;",
                                        "mul.wide.u32 %r1, %r2, %r3;",
                                        "mul.wide.u32 %d1, %r2, %r3;",
                                        "mad.wide.s32 %rd1, %r1, %r2, %r3;",
                                        "shl.b32 %r1, %r2, %rd1;",
                                        "shl.b32 %r1, %r2, %h1;",
                                        "shr.u32 %f1, %r1, 3;",
                                        "bfe.u32 %r1, %r2, %h1, 4;",
                                        "popc.b64 %rd1, %rd2;",
                                        "clz.b32 %r1, %h1;",
                                        "mov.u32 %r1, %f1;",
                                        "mov.f32 %f1, %u;",
                                        "mov.b32 %r1, %h1;",
                                        "mov.u64 %rd1, %d1;",
                                        "fma.rn.f32 %f1, %f2, %s, %f3;",
                                        "fma.rn.f16 %h1, %h2, %uh, %h3;",
                                        "add.f16x2 %hh, %f1, %r1;",
                                        "cvt.f32.s32 %s, %r1;",
                                        "cvt.rn.f32.u32 %f1, %f2;",
                                        "cvt.u32.u16 %h1, %h2;",
                                        "cvt.rn.f16.f32 %uh, %f1;",
                                        "ld.global.u32 %h1, [%rd1];",
                                        "ld.global.f32 %u, [%rd1];",
                                        "ld.global.u32 %f1, [%rd1];",
                                        "st.global.f32 [%rd1], %s;",
                                        "st.global.b64 [%rd1], %r1;",
                                        "atom.global.add.u32 %f1, [%rd1], %r1;",
                                        "atom.global.add.f32 %f1, [%rd1], %u;",
                                        "red.global.add.u64 [%rd1], %r1;",
                                        "shfl.sync.idx.b32 %r1, %rd1, 0, 31, -1;",
                                        "vote.sync.all.pred %p1, %r1, -1;",
                                        "redux.sync.add.s32 %f1, %r1, -1;",
                                        "slct.s32.f32 %r1, %r2, %r3, %s;",
                                        "set.lt.u32.f32 %f1, %f2, %f3;",
                                        "and.b32 %r1, %r2, %p1;",
                                        "not.pred %p1, %r1;",
                                        "lop3.b32 %r1, %r2, %rd1, %r3, 1;",
                                        "mbarrier.try_wait.shared.b64 %p1, [%r1], %r2;",
                                        "cvta.shared.u64 %rd1, %d1;",
                                        "div.rn.f64 %d1, %d2, %ud;"}) {
    EXPECT_NE(refusal_of(instruction), "") << instruction;
  }
  EXPECT_EQ(refusal_of("add.s16 %h1, %h2, %r1;"), "'add.s16': the register %r1 (.b32) does not fit .s16");
  EXPECT_THAT(refusal_of("mul.wide.u32 %r1, %r2, %r3;"), HasSubstr("the register %r1 (.b32) does not fit 64 bits"));
}

TEST(OperandTypes, RegistersOfBitsOtherSignsAndWiderOnesFit) {
  for (const char* const instruction : {"add.s32 %u, %s, %r1;",
                                        "add.u32 %hh, %r1, %r2;",
                                        "add.f32 %r1, %f1, %r2;",
                                        "add.s16 %uh, %sh, %h1;",
                                        "mov.b32 %f1, %u;",
                                        "mov.b32 %s, %f1;",
                                        "mov.b16 %fh, %uh;",
                                        "mov.b64 %d1, %ud;",
                                        "and.b32 %f1, %s, %r1;",
                                        "xor.b64 %d1, %ud, %rd1;",
                                        "selp.b32 %f1, %u, %r1, %p1;",
                                        "shl.b32 %f1, %r1, %s;",
                                        "prmt.b32 %r1, %f1, %u, %s;",
                                        "ld.global.u8 %rd1, [%rd2];",
                                        "ld.global.s16 %r1, [%rd2];",
                                        "ld.global.b8 %f1, [%rd2];",
                                        "ld.global.f32 %rd1, [%rd2];",
                                        "st.global.u8 [%rd1], %r1;",
                                        "st.global.b8 [%rd1], %f1;",
                                        "st.global.u32 [%rd1], %s;",
                                        "ld.global.v2.f32 {%r1, %u}, [%rd1];",
                                        "cvt.u32.u16 %r1, %r2;",
                                        "cvt.s64.s32 %rd1, %rd2;",
                                        "cvt.u8.u32 %h1, %r1;",
                                        "cvt.f32.f16 %f1, %h1;",
                                        "cvt.rn.f16x2.f32 %r1, %f1, %f2;",
                                        "cvt.rn.bf16.f32 %h1, %f1;",
                                        "fma.rn.bf16x2 %r1, %r2, %r3, %r4;",
                                        "setp.lt.f16 %p1, %h1, %fh;",
                                        "mul.wide.u16 %u, %h1, %uh;",
                                        "mad.wide.u32 %rd1, %r1, %u, %ud;",
                                        "popc.b64 %s, %d1;",
                                        "atom.global.cas.b32 %f1, [%rd1], %r1, %u;",
                                        "atom.global.exch.b64 %d1, [%rd1], %ud;",
                                        "atom.global.L2::cache_hint.add.u32 %r1, [%rd1], %r2, %rd2;",
                                        "shfl.sync.down.b32 %f1|%p1, %f2, 1, 31, -1;",
                                        "set.gt.f32.s32 %f1, %r1, %s;",
                                        "slct.f64.s32 %d1, %d2, %d3, %r1;",
                                        "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 3, %p2;",
                                        "mov.b128 %q, {%rd1, %rd2};",
                                        "ld.global.b128 %q, [%rd1];",
                                        "mov.b32 %r1, {%h1, %uh};",
                                        "dp4a.s32.u32 %r1, %r2, %u, %s;"}) {
    EXPECT_EQ(refusal_of(instruction), "") << instruction;
  }
}

}  // namespace
}  // namespace convladder::ptx
