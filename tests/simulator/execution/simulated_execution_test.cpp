#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "simulator/ptx_kernels.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

/// r1 = global thread number; out and in are 64-bit parameters.
constexpr const char* kPrologue =
    ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<9>;\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r1, %r2, %r3, %r4;\n"
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];\n"
    "mul.wide.s32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n";

std::string text_of(const std::string& body) {
  return kernel_text(".param .u64 out, .param .u64 in", kPrologue + body);
}

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 0U);
  return values;
}

/// A kernel over `count` threads that reads one array and writes another.
struct Mapping {
  explicit Mapping(const std::string& body, std::size_t count) : run(text_of(body)), count(count) {
    out = run.array(std::vector<std::uint32_t>(count, 0xffffffffU), "out");
    in = run.array(numbers(count), "in");
    run.set(0, out);
    run.set(1, in);
  }
  std::vector<std::uint32_t> result() const { return run.read<std::uint32_t>(out, count); }
  KernelRun run;
  std::size_t count;
  std::uint64_t out = 0;
  std::uint64_t in = 0;
};

std::string fault_of(Mapping& mapping, Dim3 grid, Dim3 block, std::uint32_t shared_bytes = 0) {
  try {
    mapping.run.launch(grid, block, shared_bytes);
  } catch (const KernelFault& fault) {
    return fault.what();
  }
  return "no fault";
}

TEST(SimulatedExecution, RunsEveryThreadOfBlocksWithAPartialLastWarp) {
  Mapping mapping("ld.global.u32 %r5, [%rd5]; add.s32 %r5, %r5, 7; st.global.u32 [%rd4], %r5; ret;", 3 * 50);
  mapping.run.launch({3}, {50});
  for (std::uint32_t i = 0; i < 150; ++i) EXPECT_EQ(mapping.result()[i], i + 7);
}

TEST(SimulatedExecution, ALoadIntoAWiderRegisterExtendsItByItsSign) {
  const auto upper_halves_of = [](const char* type) {
    // 0 - 2, 1 - 2, 2 - 2: negative, negative, zero. The lower half comes back in `out` first, then the upper one.
    Mapping mapping(fmt::format("ld.global.u32 %r5, [%rd5]; sub.s32 %r5, %r5, 2; st.global.u32 [%rd4], %r5;\n"
                                "ld.global.{} %rd6, [%rd4]; shr.u64 %rd6, %rd6, 32; st.global.u32 [%rd4], %rd6; ret;",
                                type),
                    3);
    mapping.run.launch({1}, {3});
    return mapping.result();
  };
  EXPECT_THAT(upper_halves_of("s32"), testing::ElementsAre(0xffffffffU, 0xffffffffU, 0U));
  EXPECT_THAT(upper_halves_of("u32"), testing::ElementsAre(0U, 0U, 0U));
}

TEST(SimulatedExecution, ANumberMayBeAddedToARegisterWhereItIsRead) {
  Mapping kernel("st.global.u32 [%rd4], %r1 + 2 * 3; mov.u64 %rd6, %rd4 - 4; ret;", 64);
  kernel.run.launch({1}, {64});
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(kernel.result()[i], i + 6);
  for (const char* const wrong : {"mov.u32 %r1 + 1, %r2; ret;", "not.pred %p1, %p2 + 1; ret;"}) {
    EXPECT_THROW(Mapping(wrong, 64), ptx::PtxError) << wrong;
  }
}

TEST(SimulatedExecution, LanesThatPartMeetAgain) {
  Mapping mapping(
      "and.b32 %r5, %r1, 1; setp.eq.s32 %p1, %r5, 0; @%p1 bra even;\n"
      "mul.lo.s32 %r6, %r1, 10; bra meet;\neven: mov.u32 %r6, 1;\nmeet: add.s32 %r6, %r6, 1; st.global.u32 [%rd4], "
      "%r6; ret;",
      64);
  const LaunchResult result = mapping.run.launch({1}, {64});
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(mapping.result()[i], i % 2 == 0 ? 2 : 10 * i + 1);
  EXPECT_EQ(mapping.run.of(result, "bra").divergent_branches, 2U);  // one a warp
  EXPECT_EQ(mapping.run.of(result, "st.global.u32").warps, 2U);     // together again: not four
  EXPECT_EQ(mapping.run.of(result, "mul.lo.s32").lanes, 32U);
}

TEST(SimulatedExecution, EveryLaneLoopsAsOftenAsItSays) {
  Mapping mapping(
      "mov.u32 %r5, 0; mov.u32 %r6, 0;\nloop: setp.ge.s32 %p1, %r5, %r1; @%p1 bra done;\n"
      "add.s32 %r6, %r6, %r5; add.s32 %r5, %r5, 1; bra loop;\ndone: st.global.u32 [%rd4], %r6; ret;",
      40);
  mapping.run.launch({1}, {40});
  for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(mapping.result()[i], i * (i - 1) / 2 * (i > 0 ? 1 : 0));
}

TEST(SimulatedExecution, LanesMayExitEarly) {
  Mapping mapping("setp.lt.s32 %p1, %r1, 10; @%p1 ret; st.global.u32 [%rd4], %r1; ret;", 32);
  mapping.run.launch({1}, {32});
  EXPECT_EQ(mapping.result()[9], 0xffffffffU);
  EXPECT_EQ(mapping.result()[10], 10U);
}

const char* const kReverseThroughShared =
    "cvt.s64.s32 %rd6, %r4; mul.lo.s32 %r5, %r4, 4; st.shared.u32 [%r5], %r1; bar.sync 0;\n"
    "sub.s32 %r6, %r3, %r4; mul.lo.s32 %r6, %r6, 4; ld.shared.u32 %r7, [%r6+-4]; st.global.u32 [%rd4], %r7; ret;";

TEST(SimulatedExecution, ABarrierOrdersSharedMemoryBetweenWarps) {
  Mapping mapping(kReverseThroughShared, 256);
  mapping.run.launch({2}, {128}, 512);
  for (std::uint32_t i = 0; i < 128; ++i) {
    EXPECT_EQ(mapping.result()[i], 127 - i);
    EXPECT_EQ(mapping.result()[128 + i], 255 - i);
  }
}

TEST(SimulatedExecution, CountersAreTheSameForEveryNumberOfHostThreads) {
  const auto counted = [](int host_threads) {
    Mapping mapping(kReverseThroughShared, 4096);
    const LaunchResult result = mapping.run.launch({32}, {128}, 512, host_threads);
    std::uint64_t sum = 0;
    for (const InstructionCounters& c : result.counters)
      sum = sum * 31 + c.warps + 7 * c.lanes + 11 * c.sectors + c.wavefronts;
    return sum;
  };
  EXPECT_EQ(counted(1), counted(2));
  EXPECT_EQ(counted(1), counted(5));
}

TEST(SimulatedExecution, CountsSectorsPerRequest) {
  Mapping neighbours("ld.global.u32 %r5, [%rd5]; st.global.u32 [%rd4], %r5; ret;", 32);
  EXPECT_EQ(neighbours.run.of(neighbours.run.launch({1}, {32}), "ld.global.u32").sectors, 4U);
  Mapping strided(
      "and.b32 %r6, %r1, 31; mul.wide.s32 %rd6, %r6, 128; add.s64 %rd6, %rd2, %rd6; ld.global.u32 %r5, [%rd6]; ret;",
      32 * 32);
  EXPECT_EQ(strided.run.of(strided.run.launch({1}, {32}), "ld.global.u32").sectors, 32U);
  Mapping same("ld.global.u32 %r5, [%rd2]; ret;", 32);
  EXPECT_EQ(same.run.of(same.run.launch({1}, {32}), "ld.global.u32").sectors, 1U);
  Mapping backwards(
      "sub.s32 %r6, 31, %r1; mul.wide.s32 %rd6, %r6, 32; add.s64 %rd6, %rd2, %rd6; ld.global.u32 %r5, [%rd6]; ret;",
      32 * 8);
  EXPECT_EQ(backwards.run.of(backwards.run.launch({1}, {32}), "ld.global.u32").sectors, 32U);
}

std::uint64_t wavefronts_of_stride(int words) {
  Mapping mapping("mul.lo.s32 %r5, %r4, " + std::to_string(4 * words) + "; ld.shared.u32 %r6, [%r5]; ret;", 32);
  return mapping.run.of(mapping.run.launch({1}, {32}, 64 * 1024), "ld.shared.u32").wavefronts;
}

TEST(SimulatedExecution, CountsBankConflicts) {
  EXPECT_EQ(wavefronts_of_stride(0), 1U);  // one word for all
  EXPECT_EQ(wavefronts_of_stride(1), 1U);
  EXPECT_EQ(wavefronts_of_stride(2), 2U);
  EXPECT_EQ(wavefronts_of_stride(3), 1U);  // odd strides never conflict
  EXPECT_EQ(wavefronts_of_stride(4), 4U);
  EXPECT_EQ(wavefronts_of_stride(8), 8U);
  EXPECT_EQ(wavefronts_of_stride(16), 16U);
  EXPECT_EQ(wavefronts_of_stride(32), 32U);
  EXPECT_EQ(wavefronts_of_stride(33), 1U);
}

TEST(SimulatedExecution, AVectorAccessTakesAPassForEachQuarter) {
  Mapping mapping("mul.lo.s32 %r5, %r4, 16; ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5]; ret;", 32);
  EXPECT_EQ(mapping.run.of(mapping.run.launch({1}, {32}, 512), "ld.shared.v4.u32").wavefronts, 4U);
}

TEST(SimulatedExecution, AnAccessBehindAnAllocationNamesEverything) {
  Mapping mapping("ld.global.u32 %r5, [%rd5+4];\nst.global.u32 [%rd4], %r5; ret;", 64);
  const std::string fault = fault_of(mapping, {2}, {32});
  EXPECT_THAT(fault, HasSubstr("0 bytes past the end of 'in' (256 bytes)"));
  EXPECT_THAT(fault, HasSubstr("'ld.global.u32' in test, PTX line"));
  EXPECT_THAT(fault, HasSubstr("block (1, 0, 0), thread (31, 0, 0)"));
}

TEST(SimulatedExecution, FindsFreedMisalignedAndSharedAccessesOutOfBounds) {
  Mapping freed("ld.global.u32 %r5, [%rd5]; ret;", 32);
  freed.run.memory().free(freed.in);
  EXPECT_THAT(fault_of(freed, {1}, {32}), HasSubstr("inside 'in', which was freed"));
  Mapping misaligned("ld.global.u32 %r5, [%rd5+2]; ret;", 64);
  EXPECT_THAT(fault_of(misaligned, {1}, {32}), HasSubstr("misaligned read of 4 bytes"));
  Mapping shared("mul.lo.s32 %r5, %r4, 4; ld.shared.u32 %r6, [%r5+4]; ret;", 32);
  EXPECT_THAT(fault_of(shared, {1}, {32}, 128), HasSubstr("at offset 128 of 128 bytes of shared memory"));
}

/// All lanes of a warp, in a row or at one place: nobody looks at each of them.
TEST(SimulatedExecution, AMisalignedRowIsFound) {
  for (const char* const body :
       {"add.s64 %rd4, %rd4, 2; ld.global.u32 %r2, [%rd4]; ret;", "ld.global.u32 %r2, [%rd2+2]; ret;",
        "mov.u32 %r2, 60; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r2]; ret;",
        "shl.b32 %r2, %r4, 2; st.shared.u32 [%r2+1], %r2; ret;"}) {
    Mapping kernel(body, 64);
    try {
      kernel.run.launch({1}, {32}, 256);
      ADD_FAILURE() << "no fault: " << body;
    } catch (const KernelFault& fault) {
      EXPECT_NE(std::string(fault.what()).find("misaligned"), std::string::npos) << fault.what();
    }
  }
}

TEST(SimulatedExecution, OfStoresToOnePlaceTheLastLaneStays) {
  Mapping kernel(
      "st.global.u32 [%rd1], %r4; st.shared.u32 [8], %r4; ld.shared.u32 %r2, [8]; st.global.u32 [%rd1+4], %r2; ret;",
      64);
  kernel.run.launch({1}, {32}, 16);
  EXPECT_EQ(kernel.result()[0], 31U);
  EXPECT_EQ(kernel.result()[1], 31U);
}

TEST(SimulatedExecution, AnAddressThatALengthWouldWrapIsOutsideOfAllMemory) {
  const auto fault = [](const std::string& body) {
    Mapping mapping("mov.u64 %rd6, 0; mov.u32 %r5, 0;\n" + body + " ret;", 32);
    return fault_of(mapping, {1}, {32}, 128);
  };
  EXPECT_THAT(fault("ld.global.u32 %r6, [%rd6+-4];"), HasSubstr("read of 4 bytes at 0xfffffffffffffffc,"));
  EXPECT_THAT(fault("st.u32 [%rd6+-4], %r5;"), HasSubstr("write of 4 bytes at 0xfffffffffffffffc,"));
  EXPECT_THAT(fault("atom.global.add.u32 %r6, [%rd6+-4], 1;"), HasSubstr("at 0xfffffffffffffffc,"));
  EXPECT_THAT(fault("ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd6+-16];"), HasSubstr("at 0xfffffffffffffff0,"));
  EXPECT_THAT(fault("cp.async.ca.shared.global [%r5], [%rd6+-16], 16;"), HasSubstr("at 0xfffffffffffffff0,"));
  EXPECT_THAT(fault("ld.shared.u32 %r6, [%rd6+-4];"), HasSubstr("at offset -4 of 128 bytes of shared memory"));
  EXPECT_THAT(fault("ld.const.u32 %r6, [%rd6+-4];"), HasSubstr("at 0xfffffffffffffffc,"));
  // The lanes' span wraps as a whole: lane 0 reads the last words of the address space, the others the first.
  EXPECT_THAT(fault("sub.u64 %rd7, %rd3, 4; ld.global.u32 %r6, [%rd7];"), HasSubstr("at 0xfffffffffffffffc,"));
}

TEST(SimulatedExecution, AKernelMayNotAskForMoreThanAGpuHas) {
  const auto refused = [](const std::string& parameters, const std::string& body) {
    try {
      KernelRun run(kernel_text(parameters, body + " ret;"));
    } catch (const ptx::PtxError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(refused(".param .b8 p[4294967296]", ""), HasSubstr("the parameters are larger than the 32764 bytes"));
  EXPECT_THAT(refused(".param .b8 p[32760], .param .u64 q", ""), HasSubstr("with 'q' the parameters are larger"));
  EXPECT_EQ(refused(".param .b8 p[32760]", ""), "accepted");
  EXPECT_THAT(refused("", ".local .b8 l[4294967296];"), HasSubstr("'l' is larger than supported"));
  EXPECT_THAT(refused("", ".shared .b8 s[4294967295]; .shared .b8 t[4294967295];"), HasSubstr("larger than supported"));
}

TEST(SimulatedExecution, ABarrierInDivergentCodeIsAFault) {
  Mapping mapping("setp.lt.s32 %p1, %r4, 5; @%p1 bra skip; bar.sync 0; skip: mov.u32 %r1, 1; ret;", 32);
  EXPECT_THAT(fault_of(mapping, {1}, {32}), HasSubstr("barrier in divergent code: 5 of the warp's 32 threads"));
}

TEST(SimulatedExecution, AnUnknownInstructionIsRefusedWithItsPlace) {
  try {
    KernelRun run(kernel_text("", ".reg .b32 r;\ntex.2dms.v4.s32.s32 r, r;\nret;"));
    FAIL() << "accepted";
  } catch (const ptx::PtxError& error) {
    EXPECT_THAT(error.what(), HasSubstr("test.ptx:7:1: 'tex.2dms.v4.s32.s32': this instruction is not supported"));
  }
}

TEST(SimulatedArithmetic, APowerOfTwoIsRoundedExactly) {
  Mapping kernel(
      "cvt.rn.f32.u32 %f1, %r1; mul.f32 %f1, %f1, 0f3D4CCCCD; sub.f32 %f1, %f1, 0f42C80000;\n"
      "st.global.f32 [%rd5], %f1; ex2.approx.f32 %f2, %f1; st.global.f32 [%rd4], %f2; ret;",
      4096);
  kernel.run.launch({16}, {256});
  const auto exponents = kernel.run.read<float>(kernel.in, kernel.count);  // from -100 to 104
  const auto powers = kernel.run.read<float>(kernel.out, kernel.count);
  for (std::size_t i = 0; i < kernel.count; ++i) {
    ASSERT_EQ(powers[i], static_cast<float>(std::exp2(static_cast<double>(exponents[i])))) << exponents[i];
  }
}

}  // namespace
}  // namespace convladder::simulated
