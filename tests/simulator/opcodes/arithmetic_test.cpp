// Values of instructions that compute, by hand; opcode_vectors_test.cpp has all of them from an oracle.

#include <gtest/gtest.h>

#include <cmath>

#include "simulator/instructions/forms.hpp"
#include "simulator/ptx_kernels.hpp"

namespace convladder::simulated {
namespace {

/// Every lane computes `opcode` of the same operands.
template <typename Result, typename... Operands>
Result value_of(const std::string& opcode, Operands... operands) {
  const auto type_of = [](auto value) { return sizeof value == 8 ? std::string(".b64") : std::string(".b32"); };
  std::string parameters = ".param .u64 out";
  std::string body = ".reg .b64 address; .reg " + type_of(Result{}) + " result;\nld.param.u64 address, [out];\n";
  std::string list;
  int index = 0;
  const auto declare = [&](auto value) {
    const std::string name = "x" + std::to_string(index++);
    parameters += ", .param " + type_of(value) + " p" + name;
    body += ".reg " + type_of(value) + " " + name + "; ld.param" + type_of(value) + " " + name + ", [p" + name + "];\n";
    list += ", " + name;
  };
  (declare(operands), ...);
  body += opcode + " result" + list + "; st.global" + type_of(Result{}) + " [address], result; ret;";
  KernelRun run(kernel_text(parameters, body));
  const std::uint64_t out = run.array(std::vector<Result>(1), "out");
  run.set(0, out);
  index = 0;
  (run.set(static_cast<std::size_t>(++index), operands), ...);
  run.launch({1}, {32});
  return run.template read<Result>(out, 1)[0];
}

using U = std::uint32_t;
using S = std::int32_t;
using L = std::uint64_t;
constexpr U kNan = 0x7fffffffU;

TEST(SimulatedArithmetic, Integers) {
  EXPECT_EQ(value_of<U>("add.s32", 0x7fffffffU, 1U), 0x80000000U);
  EXPECT_EQ(value_of<U>("mul.hi.u32", 0xffffffffU, 0xffffffffU), 0xfffffffeU);
  EXPECT_EQ(value_of<U>("mul.hi.s32", 0xffffffffU, 5U), 0xffffffffU);
  EXPECT_EQ(value_of<L>("mul.wide.s32", 0xffffffffU, 4U), ~L{3});
  EXPECT_EQ(value_of<L>("mul.wide.u32", 0xffffffffU, 4U), L{0x3fffffffc});
  EXPECT_EQ(value_of<S>("div.s32", S{-7}, S{2}), -3);
  EXPECT_EQ(value_of<S>("rem.s32", S{-7}, S{2}), -1);
  EXPECT_EQ(value_of<U>("div.s32", 0x80000000U, 0xffffffffU), 0x80000000U);
  EXPECT_EQ(value_of<U>("div.u32", 5U, 0U), 0xffffffffU);
  EXPECT_EQ(value_of<U>("shl.b32", 1U, 32U), 0U);
  EXPECT_EQ(value_of<U>("shr.s32", 0x80000000U, 99U), 0xffffffffU);
  EXPECT_EQ(value_of<U>("shr.u32", 0x80000000U, 31U), 1U);
  EXPECT_EQ(value_of<U>("clz.b32", 1U), 31U);
  EXPECT_EQ(value_of<U>("popc.b64", ~L{0}), 64U);
  EXPECT_EQ(value_of<U>("brev.b32", 1U), 0x80000000U);
}

TEST(SimulatedArithmetic, SinglePrecision) {
  const float inf = std::numeric_limits<float>::infinity();
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(value_of<float>("fma.rn.f32", 1.0F + 0x1p-23F, 1.0F - 0x1p-23F, -1.0F), -0x1p-46F);  // not rounded between
  EXPECT_EQ(value_of<U>("add.f32", inf, -inf), kNan);
  EXPECT_EQ(value_of<U>("mul.f32", 0.0F, inf), kNan);
  EXPECT_EQ(value_of<float>("mul.f32", tiny, 1.0F), tiny);
  EXPECT_EQ(value_of<float>("mul.ftz.f32", tiny, 1.0F), 0.0F);
  EXPECT_EQ(value_of<float>("add.sat.f32", 1.0F, 1.0F), 1.0F);
  EXPECT_EQ(value_of<float>("add.sat.f32", inf, -inf), 0.0F);
  EXPECT_EQ(value_of<float>("min.f32", std::nanf(""), 3.0F), 3.0F);
  EXPECT_EQ(value_of<U>("max.f32", -0.0F, 0.0F), 0U);
  EXPECT_EQ(value_of<float>("div.rn.f32", 1.0F, 0.0F), inf);
  EXPECT_EQ(value_of<float>("sqrt.rn.f32", 2.0F), 0x1.6a09e6p+0F);
  EXPECT_EQ(value_of<float>("ex2.approx.f32", 3.0F), 8.0F);
}

TEST(SimulatedArithmetic, Conversions) {
  EXPECT_EQ(value_of<S>("cvt.rzi.s32.f32", -2.9F), -2);
  EXPECT_EQ(value_of<S>("cvt.rni.s32.f32", 2.5F), 2);
  EXPECT_EQ(value_of<S>("cvt.rmi.s32.f32", -2.1F), -3);
  EXPECT_EQ(value_of<S>("cvt.rzi.s32.f32", 1e20F), 0x7fffffff);
  EXPECT_EQ(value_of<U>("cvt.rzi.u32.f32", -5.0F), 0U);
  EXPECT_EQ(value_of<S>("cvt.rzi.s32.f32", std::nanf("")), 0);
  EXPECT_EQ(value_of<L>("cvt.s64.s32", 0xffffffffU), ~L{0});
  EXPECT_EQ(value_of<L>("cvt.u64.u32", 0xffffffffU), L{0xffffffff});
  EXPECT_EQ(value_of<float>("cvt.rn.f32.s32", S{16777217}), 16777216.0F);
  EXPECT_EQ(value_of<S>("cvt.s32.s8", 0xffU), -1);
}

TEST(SimulatedForms, AreManyAndNoneTwice) { EXPECT_GT(forms().opcodes().size(), 500U); }

}  // namespace
}  // namespace convladder::simulated
