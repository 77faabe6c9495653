// Loads, stores and atomics as compilers spell them: orders, scopes, cache hints, vectors, registers of 128 bits,
// generic addresses of every state space. Each spelling moves data, or changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "simulator/checkers/race_checker.hpp"
#include "simulator/checkers/written_allocations.hpp"
#include "simulator/lane_kernel.hpp"
#include "support/half.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

TEST(MemorySpellings, LoadsAndStoresMoveDataHoweverTheyAreSpelt) {
  const Words values = noise(32);
  for (const std::string load :
       {"ld.acquire.gpu.global.u32", "ld.acquire.cluster.u32", "ld.relaxed.sys.global.L1::no_allocate.u32",
        "ld.mmio.relaxed.sys.global.u32", "ld.volatile.global.b32", "ld.weak.global.ca.L2::128B.u32",
        "ld.global.nc.L1::evict_last.L2::256B.u32", "ld.global.lu.s32", "ld.global.cv.u32", "ldu.global.f32", "ldu.u32",
        "ld.relaxed.cta.global.u32"}) {
    LaneKernel kernel(load + " %r2, [%rd5]; st.global.u32 [%rd4], %r2; ret;", values, 32);
    EXPECT_EQ(kernel.results(), values) << load;
  }
  for (const std::string store :
       {"st.release.gpu.global.u32", "st.release.cluster.u32", "st.relaxed.sys.global.L1::evict_first.u32",
        "st.mmio.relaxed.sys.global.u32", "st.volatile.global.b32", "st.weak.global.wb.u32", "st.global.cg.u32",
        "st.wt.global.s32", "st.relaxed.cta.u32"}) {
    LaneKernel kernel("ld.global.u32 %r2, [%rd5].unified; " + store + " [%rd4], %r2; ret;", values, 32);
    EXPECT_EQ(kernel.results(), values) << store;
  }
  LaneKernel shared(
      "ld.global.L2::cache_hint.L2::64B.u32 %r2, [%rd5], %rd9; shl.b32 %r3, %r1, 2;\n"
      "st.release.cta.shared::cta.u32 [%r3], %r2; ld.acquire.sys.shared::cluster.u32 %r4, [%r3];\n"
      "st.shared::cluster.u32 [%r3+128], %r4; ld.weak.shared::cta.u32 %r5, [%r3+128];\n"
      "st.global.L1::evict_last.L2::cache_hint.u32 [%rd4], %r5, %rd9; ret;",
      values, 32);
  EXPECT_EQ(shared.results(32, 256), values);
}

TEST(MemorySpellings, AreRefusedWhereTheyMeanNothing) {
  for (const std::string wrong : {"ld.global.v8.u64 {%rd6, %rd7}, [%rd5];", "ld.shared.v8.u32 {%r2, %r3}, [%rd5];",
                                  "ld.shared.v4.u64 {%rd6, %rd7, %rd8, %rd9}, [%r2];", "st.const.u32 [%rd5], %r2;",
                                  "ld.global.nonsense.u32 %r2, [%rd5];"}) {
    EXPECT_THROW(LaneKernel(wrong + " ret;", Words(32), 32), ptx::PtxError) << wrong;
  }
  EXPECT_THROW(LaneKernel("ld.global.L2::cache_hint.u32 %r2, [%rd5]; ret;", Words(32), 32), ptx::PtxError);
  EXPECT_THROW(LaneKernel("ld.global.b128 %rd6, [%rd5]; ret;", Words(32), 32), ptx::PtxError);
}

TEST(MemorySpellings, VectorsOf32BytesAreOneRequest) {
  const Words values = noise(256);
  for (const std::string space : {"global.", ""}) {
    LaneKernel eight("ld." + space + "v8.b32 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%rd5]; st." + space +
                         "v8.b32 [%rd4], {%r9, %r8, %r7, %r6, %r5, %r4, %r3, %r2}; ret;",
                     values, 256, 8, 8);
    const LaunchResult result = eight.launch();
    const Words out = eight.result();
    for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], values[i / 8 * 8 + 7 - i % 8]) << i;
    EXPECT_EQ(eight.run.of(result, "ld." + space + "v8.b32").requests, 1U);
    EXPECT_EQ(eight.run.of(result, "ld." + space + "v8.b32").sectors, 32U);
    EXPECT_EQ(eight.run.of(result, "st." + space + "v8.b32").bytes, 1024U);
  }
  LaneKernel four(
      "ld.global.nc.L2::evict_first.v4.u64 {%rd6, %rd7, %rd8, %rd9}, [%rd5];\n"
      "st.global.v4.f64 [%rd4], {%rd9, %rd8, %rd7, %rd6}; ret;",
      values, 256, 8, 8);
  const Words out = four.results();
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], values[i / 8 * 8 + (3 - i % 8 / 2) * 2 + i % 2]) << i;
  LaneKernel misaligned("ld.global.v8.b32 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, _}, [%rd5+16]; ret;", values, 32);
  EXPECT_THAT(misaligned.fault(), HasSubstr("misaligned read of 32 bytes"));
}

TEST(MemorySpellings, RegistersOf128Bits) {
  const Words values = noise(128);
  LaneKernel kernel(
      ".reg .b128 %q<4>;\nld.global.nc.b128 %q1, [%rd5]; mov.b128 {%rd6, %rd7}, %q1; mov.b128 %q2, {%rd7, %rd6};\n"
      "shl.b32 %r2, %r1, 4; st.shared.b128 [%r2], %q2; ld.relaxed.cta.shared.b128 %q3, [%r2]; mov.b128 %q0, %q3;\n"
      "st.global.b128 [%rd4], %q0; ret;",
      values, 128, 4, 4);
  const Words out = kernel.results(32, 512);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], values[i ^ 2U]) << i;
}

TEST(MemorySpellings, Atomics128BitsWide) {
  // All lanes exchange at one place; then lane by lane who finds what lane 31 left puts one's own there.
  const Words values = noise(128);
  for (const std::string place : {"global.", "", "acq_rel.gpu.shared."}) {
    const bool shared = place.find("shared") != std::string::npos;
    const std::string at = shared ? "[0]" : "[%rd2+512]";
    LaneKernel kernel(
        ".reg .b128 %q<4>;\nld.global.b128 %q1, [%rd5]; atom." + place + "exch.b128 %q2, " + at +
            ", %q1;\nst.global.b128 [%rd4], %q2; add.s64 %rd6, %rd2, 496; ld.global.b128 %q3, [%rd6];\n"
            "atom." +
            place + "cas.b128 %q2, " + at + ", %q3, %q1; st.global.b128 [%rd4+16], %q2; ret;",
        [&] {
          Words with_place = values;
          with_place.insert(with_place.end(), 4, 0);
          return with_place;
        }(),
        256, 4, 8);
    const Words out = kernel.results(32, 16);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(out[8 * lane + i], lane == 0 ? 0 : values[4 * (lane - 1) + i]) << place << lane;
        EXPECT_EQ(out[8 * lane + 4 + i], lane == 0 ? values[124 + i] : values[i]) << place << lane;
      }
    }
  }
}

TEST(MemorySpellings, VectorAtomicsAreOneForEachElement) {
  Words input(128);
  for (std::size_t i = 0; i < 128; ++i) input[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i));
  LaneKernel floats(
      "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd5];\n"
      "atom.relaxed.gpu.global.v4.f32.add {%r6, %r7, %r8, %r9}, [%rd1], {%r2, %r3, %r4, %r5};\n"
      "red.global.add.L2::cache_hint.v2.f32 [%rd1+16], {%r2, %r3}, %rd9; atom.add.v2.f32 {%r2, %r3}, [%rd1+24], {%r4, "
      "%r5};\nst.global.v4.b32 [%rd4+32], {%r6, %r7, %r8, %r9}; ret;",
      input, 8 + 128, 4, 4);
  std::memset(floats.run.memory().host(floats.out), 0, 32);
  const Words out = floats.results();
  std::array<float, 4> sum{};
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(std::bit_cast<float>(out[8 + 4 * lane + i]), sum[i]) << lane;
      sum[i] += static_cast<float>(4 * lane + i);
    }
  }
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(std::bit_cast<float>(out[i]), sum[i % 4]) << i;
}

/// Eight halves, or two to four pairs: the greatest, the least and the sum of what the lanes have.
TEST(MemorySpellings, VectorAtomicsOfHalves) {
  const auto half = [](double value) { return std::uint32_t{round_to<Half>(value).bits}; };
  const auto brain = [](double value) { return std::uint32_t{round_to<Bfloat16>(value).bits}; };
  Words input(64);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const double value = static_cast<double>(lane) - 16;
    input[2 * lane] = half(value) | half(-value) << 16;
    input[2 * lane + 1] = brain(value) | 0x7fffU << 16;  // no number
  }
  LaneKernel kernel(
      ".reg .b16 %h<9>;\nld.global.v2.b32 {%r2, %r3}, [%rd5]; mov.b32 {%h1, %h2}, %r2; mov.b32 {%h3, %h4}, %r3;\n"
      "red.global.max.noftz.v8.f16 [%rd1], {%h1, %h2, %h1, %h2, %h1, %h2, %h1, %h2};\n"
      "atom.global.v2.f16x2.min.noftz {%r4, %r5}, [%rd1+16], {%r2, %r2};\n"
      "red.global.add.noftz.v4.bf16 [%rd1+24], {%h3, %h3, %h3, %h3};\n"
      "red.global.v2.bf16x2.max.noftz [%rd1+32], {%r3, %r3};\n"
      "atom.global.v2.f16.add.noftz {%h5, %h6}, [%rd1+40], {%h1, %h2}; ret;",
      input, 32, 2, 0);
  std::memset(kernel.run.memory().host(kernel.out), 0, 48);
  const Words out = kernel.results();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(out[i], half(15) | half(16) << 16);
  EXPECT_EQ(out[4], half(-16) | half(-15) << 16);
  EXPECT_EQ(out[5], out[4]);
  EXPECT_EQ(out[6], brain(-16) | brain(-16) << 16);
  EXPECT_EQ(out[7], out[6]);
  EXPECT_EQ(out[8], brain(15));  // what is no number gives way to the zero that was there
  EXPECT_EQ(out[10], half(-16) | half(16) << 16);
}

TEST(MemorySpellings, CacheControlChangesNothing) {
  LaneKernel kernel(
      "prefetch.global.L1 [%rd5]; prefetch.global.L2::evict_last [%rd5]; prefetchu.L1 [%rd5]; prefetch.L2 [%rd5];\n"
      "prefetch.tensormap [%rd5]; applypriority.global.L2::evict_normal [%rd5], 128; discard.global.L2 [%rd5], 128;\n"
      "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd6, 1.0;\n"
      "createpolicy.fractional.L2::evict_first.b64 %rd7; createpolicy.cvt.L2.b64 %rd8, %rd6;\n"
      "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd9, [%rd5], %r1, 0x100000;\n"
      "ld.global.L2::cache_hint.u32 %r2, [%rd5], %rd6; st.global.u32 [%rd4], %r2; sub.u64 %rd6, %rd6, %rd8;\n"
      "cvt.u32.u64 %r3, %rd6; st.global.u32 [%rd4+4], %r3; setp.eq.u64 %p1, %rd7, %rd9; selp.u32 %r4, 1, 0, %p1;\n"
      "st.global.u32 [%rd4+8], %r4; ret;",
      noise(32), 96, 1, 3);
  const Words out = kernel.results();
  for (std::size_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[3 * lane], noise(32)[lane]);
    EXPECT_EQ(out[3 * lane + 1], 0U);  // as it was made
    EXPECT_EQ(out[3 * lane + 2], 0U);  // other priorities are other policies
  }
  const LaunchResult result = kernel.launch();
  EXPECT_EQ(kernel.run.of(result, "discard.global.L2").requests, 0U);
}

TEST(MemorySpellings, ParametersHaveGenericAddresses) {
  KernelRun run(
      kernel_text(".param .u64 out, .param .align 8 .b8 values[256]",
                  ".reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<3>;\nld.param::entry.u64 %d1, [out]; "
                  "mov.b64 %d2, values; cvta.param.u64 %d3, %d2; mov.u32 %r1, %tid.x;\n"
                  "mul.wide.u32 %d4, %r1, 4; add.u64 %d5, %d3, %d4; ld.u32 %r2, [%d5]; add.u64 %d1, %d1, %d4;\n"
                  "isspacep.param %p1, %d5; isspacep.global %p2, %d5; @!%p1 bra END; @%p2 bra END;\n"
                  "st.global.u32 [%d1], %r2;\nEND: ret;"));
  const std::uint64_t out = run.array(Words(32), "out");
  run.set(0, out);
  std::array<std::uint32_t, 64> values{};
  for (std::size_t i = 0; i < 64; ++i) values[i] = noise(64)[i];
  run.set(1, values);
  run.launch({1}, {32});
  EXPECT_EQ(run.read<std::uint32_t>(out, 32), noise(32));
  for (const std::string write : {"st.u32 [%d2], %r1;", "atom.add.u32 %r1, [%d2], 1;"}) {
    KernelRun writes(kernel_text(".param .u64 p",
                                 ".reg .b64 %d<3>; .reg .b32 %r<3>;\nmov.b64 %d1, p; "
                                 "cvta.param.u64 %d2, %d1; " +
                                     write + " ret;"));
    try {
      writes.launch({1}, {32});
      ADD_FAILURE() << write;
    } catch (const KernelFault& fault) {
      EXPECT_THAT(fault.what(), HasSubstr("to the kernel's parameters")) << write;
    }
  }
}

/// What racecheck finds: two blocks of a warp, or two warps of a block.
std::size_t races_of(KernelRun& run, bool blocks) {
  run.set(0, run.array(Words(4), "data"));
  run.set(1, run.array(Words(4), "flag"));
  LaunchConfiguration configuration;
  configuration.grid = {blocks ? 2U : 1U};
  configuration.block = {blocks ? 32U : 64U};
  configuration.collect_findings = true;
  std::optional<RaceChecker> checker;
  const auto written = written_allocations(run.program(), run.parameters(), run.memory());
  return run
      .launch(configuration,
              [&](FindingLog& findings) {
                return std::vector<AccessObserver*>{&checker.emplace(run.program(), written, findings)};
              })
      .findings.findings()
      .size();
}

/// The findings of racecheck on two warps or blocks of which one writes `data` and sets a flag, and the other reads
/// both.
std::size_t races(const std::string& store, const std::string& load, const std::string& between, bool blocks) {
  KernelRun run(kernel_text(
      ".param .u64 data, .param .u64 flag",
      ".reg .b64 %d<3>; .reg .b32 %r<9>; .reg .pred %p<3>;\nld.param.u64 %d1, [data]; ld.param.u64 %d2, [flag];\n" +
          std::string(blocks ? "mov.u32 %r1, %ctaid.x;" : "mov.u32 %r1, %tid.x; shr.u32 %r1, %r1, 5;") +
          "mov.u32 %r5, %tid.x; and.b32 %r5, %r5, 31; setp.ne.u32 %p1, %r5, 0; @%p1 bra END; setp.ne.u32 %p1, %r1, 0;\n"
          "@%p1 bra READ; st.global.u32 [%d1], 7; " +
          between + " " + store + " [%d2], 1; bra END;\nREAD: " + load + " %r2, [%d2]; setp.ne.u32 %p2, %r2, 1; " +
          "@%p2 bra READ; " + between + " ld.global.u32 %r3, [%d1];\nEND: ret;"));
  return races_of(run, blocks);
}

TEST(MemoryOrder, ReleaseAndAcquireOrderWhatLiesAround) {
  for (const bool blocks : {false, true}) {
    EXPECT_EQ(races("st.release.gpu.global.u32", "ld.acquire.gpu.global.u32", "", blocks), 0U) << blocks;
    EXPECT_EQ(races("st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32", "fence.acq_rel.gpu;", blocks), 0U)
        << blocks;
    EXPECT_EQ(races("st.volatile.global.u32", "ld.volatile.global.u32", "membar.gl;", blocks), 0U) << blocks;
    EXPECT_EQ(races("st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32", "", blocks), 1U) << blocks;
    EXPECT_EQ(races("st.global.u32", "ld.global.u32", "fence.acq_rel.gpu;", blocks), 2U) << blocks;
  }
  EXPECT_EQ(races("st.relaxed.cta.global.u32", "ld.relaxed.cta.global.u32", "fence.acq_rel.cta;", false), 0U);
}

TEST(MemoryOrder, WhatACompareAndSwapChecksIsLoadedInNoRace) {
  const auto count = [](const std::string& behind, bool blocks) {
    KernelRun run(kernel_text(".param .u64 data, .param .u64 flag",
                              ".reg .b64 %d<3>; .reg .b32 %r<9>; .reg .pred %p<3>;\nld.param.u64 %d1, [data];\n"
                              "ld.global.u32 %r1, [%d1+4];\nAGAIN: mov.u32 %r2, %r1; add.u32 %r3, %r2, 1;\n"
                              "atom.global.cas.b32 %r1, [%d1+4], %r2, %r3; setp.ne.u32 %p1, %r1, %r2;\n"
                              "@%p1 bra AGAIN;\n" +
                                  behind + "ret;"));
    return races_of(run, blocks);
  };
  for (const bool blocks : {false, true}) {
    EXPECT_EQ(count("", blocks), 0U) << blocks;
    EXPECT_GT(count("st.global.u32 [%d1+4], %r3; ", blocks), 0U) << blocks;
    EXPECT_GT(count("mov.u64 %d2, %d1; ld.global.u32 %r4, [%d2+4]; ", blocks), 0U) << blocks;
  }
}

}  // namespace
}  // namespace convladder::simulated
