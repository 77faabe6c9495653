// mbarrier and what arrives at one: threads, cp.async, bulk copies, asynchronous stores.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <string>

#include "simulator/checkers/initialization_checker.hpp"
#include "simulator/checkers/race_checker.hpp"
#include "simulator/checkers/written_allocations.hpp"
#include "simulator/counters/metrics.hpp"
#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Thread 0 makes the mbarrier at 0 of shared memory for so many arrivals.
std::string initialize(int arrivals) {
  return "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [0], " + std::to_string(arrivals) +
         "; fence.mbarrier_init.release.cluster; bar.sync 0;\n";
}
/// Until the phase of that parity has ended.
std::string wait(const std::string& label, int parity) {
  return label + ": mbarrier.try_wait.parity.shared::cta.b64 %p2, [0], " + std::to_string(parity) + "; @!%p2 bra " +
         label + ";\n";
}

TEST(SimulatedMbarrier, WarpsWaitForEachOtherInEveryPhase) {
  // Each of four warps writes, arrives and waits; then reads what the next warp wrote.
  std::string body = initialize(128) + "shl.b32 %r2, %r1, 2; add.u32 %r3, %r2, 128; and.b32 %r3, %r3, 511;\n";
  for (int phase = 0; phase < 3; ++phase) {
    body += fmt::format(
        "add.u32 %r5, %r1, {0}; st.shared.u32 [%r2+{1}], %r5; mbarrier.arrive.shared::cta.b64 %rd6, [0];\n{2}"
        "ld.shared.u32 %r4, [%r3+{1}]; st.global.u32 [%rd4+{3}], %r4;\n",
        1000 * phase, 16 + 512 * (phase % 2), wait("WAIT" + std::to_string(phase), phase % 2), 4 * phase);
  }
  LaneKernel kernel(body + "ret;", Words(128), 384, 1, 3);
  const Words out = kernel.results(128, 2048);
  for (std::size_t i = 0; i < 384; ++i) EXPECT_EQ(out[i], 1000 * (i % 3) + (i / 3 + 32) % 128) << i;
}

TEST(SimulatedMbarrier, LanesOfAWarpWaitForEachOther) {
  // Lane 0 waits for the others, whichever way of the branch runs first.
  for (const bool waits_first : {true, false}) {
    const std::string waiting = wait("W", 0) + "bra END;\n";
    const std::string arriving = "mbarrier.arrive.shared.b64 _, [0]; bra END;\n";
    LaneKernel kernel(initialize(31) + (waits_first ? "setp.eq" : "setp.ne") + ".u32 %p3, %r1, 0; @%p3 bra TAKEN;\n" +
                          (waits_first ? arriving : waiting) + "TAKEN:\n" + (waits_first ? waiting : arriving) +
                          "END: st.global.u32 [%rd4], %r1; ret;",
                      Words(32), 32);
    EXPECT_EQ(kernel.results(32, 16)[31], 31U) << waits_first;
  }
}

TEST(SimulatedMbarrier, StatesAndCountsAreThoseOfTheIsa) {
  LaneKernel kernel(
      initialize(3) +
          "mbarrier.arrive.shared.b64 %rd6, [0]; mbarrier.pending_count.b64 %r2, %rd6;\n"
          "mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd7, [0], 1; "
          "mbarrier.pending_count.b64 %r3, %rd7;\n"
          "mbarrier.test_wait.shared.b64 %p3, [0], %rd6; selp.u32 %r4, 1, 0, %p3;\n"
          "mbarrier.arrive_drop.shared.b64 %rd8, [0]; mbarrier.pending_count.b64 %r5, %rd8;\n"
          "mbarrier.test_wait.acquire.cta.shared.b64 %p3, [0], %rd6; selp.u32 %r6, 1, 0, %p3;\n"
          "mbarrier.arrive.shared::cluster.b64 _, [0], 2; mbarrier.test_wait.parity.shared.b64 %p4, [0], 1;"
          "selp.u32 %r7, 1, 0, %p4;\n"  // two are left to be expected
          "mbarrier.arrive.expect_tx.shared.b64 %rd9, [0], 32; mbarrier.arrive.shared.b64 _, [0];\n"
          "mbarrier.test_wait.parity.shared.b64 %p4, [0], 0; selp.u32 %r8, 1, 0, %p4;\n"
          "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [0], 8;\n"
          "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [0], 40;\n"
          "mbarrier.test_wait.parity.shared.b64 %p4, [0], 0; selp.u32 %r9, 1, 0, %p4;\n"
          "st.global.v4.u32 [%rd4], {%r2, %r3, %r4, %r5}; st.global.v4.u32 [%rd4+16], {%r6, %r7, %r8, "
          "%r9}; mbarrier.inval.shared.b64 [0]; ret;",
      Words(1), 8, 1, 8);
  EXPECT_EQ(kernel.results(1, 16), (Words{3, 2, 0, 1, 1, 1, 0, 1}));
}

TEST(SimulatedMbarrier, WhatCannotBeIsReported) {
  const auto fault = [](const std::string& body) { return LaneKernel(body + " ret;", Words(32), 32).fault(1, 64); };
  EXPECT_THAT(fault("mbarrier.arrive.shared.b64 %rd6, [8];"),
              HasSubstr("the mbarrier at offset 8 of shared memory is not"));
  EXPECT_THAT(fault(initialize(1) + "mbarrier.inval.shared.b64 [0]; mbarrier.arrive.shared.b64 %rd6, [0];"),
              HasSubstr("is not initialised"));
  EXPECT_THAT(fault(initialize(1) + "mbarrier.arrive.shared.b64 %rd6, [0], 2;"),
              HasSubstr("1 arrivals are pending of 1"));
  EXPECT_THAT(fault(initialize(1) + "mbarrier.arrive.noComplete.shared.b64 %rd6, [0], 1;"),
              HasSubstr("with .noComplete completes the phase"));
  EXPECT_THAT(fault("mbarrier.init.shared.b64 [0], 0;"), HasSubstr("an mbarrier for 0 arrivals"));
  EXPECT_THAT(fault("mbarrier.init.shared.b64 [4], 1;"), HasSubstr("misaligned write of 8 bytes"));
  EXPECT_THAT(fault("mbarrier.init.b64 [%rd1], 1;"), HasSubstr("of shared memory"));  // global memory
  EXPECT_THAT(fault(initialize(1) + wait("W", 0)), HasSubstr("waits forever"));
  EXPECT_THAT(
      LaneKernel(initialize(96) + "mbarrier.arrive.shared.b64 %rd6, [0];\n" + wait("W", 0) + "ret;", Words(64), 64)
          .fault(64, 64),
      HasSubstr("waits forever"));
}

TEST(SimulatedMbarrier, CopiesOfThreadsArrive) {
  for (const bool counted : {true, false}) {
    const Words values = noise(64);
    LaneKernel kernel(
        initialize(counted ? 64 : 32) +
            "shl.b32 %r2, %r1, 2; cp.async.ca.shared.global [%r2+16], [%rd5], 4;\n"
            "cp.async.mbarrier.arrive" +
            (counted ? ".noinc" : "") +
            ".shared::cta.b64 [0]; ld.shared.u32 %r3, [%r2+16];\n"
            "bar.sync 0; setp.lt.u32 %p4, %r1, 32; @!%p4 bra W;\n" +
            (counted ? "" : "mbarrier.arrive.shared.b64 _, [0];\n") + wait("W", 0) +
            "xor.b32 %r4, %r2, 128; ld.shared.u32 %r4, [%r4+16]; st.global.v2.u32 [%rd4], {%r3, %r4}; ret;",
        values, 128, 1, 2);
    const Words out = kernel.results(64, 512);
    for (std::size_t i = 0; i < 64; ++i) {
      EXPECT_EQ(out[2 * i], 0U) << i;  // not waited for
      EXPECT_EQ(out[2 * i + 1], values[i ^ 32U]) << i;
    }
  }
}

constexpr const char* kBulkLoad =
    "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [0], 256;\n"
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [16], [%rd2], 256, [0];\n";

TEST(SimulatedBulkCopy, ArrivesAtAnMbarrierAndIsNotSeenBefore) {
  const Words values = noise(64);
  LaneKernel kernel(initialize(1) + kBulkLoad + "shl.b32 %r2, %r1, 2; ld.shared.u32 %r3, [%r2+16]; bar.sync 0;\n" +
                        wait("W", 0) + "ld.shared.u32 %r4, [%r2+16]; st.global.v2.u32 [%rd4], {%r3, %r4}; ret;",
                    values, 128, 1, 2);
  const LaunchResult result = kernel.launch(64, 512);
  const Words out = kernel.result();
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(out[2 * i], 0U) << i;
    EXPECT_EQ(out[2 * i + 1], values[i]) << i;
  }
  const auto& counters = kernel.run.of(result, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes");
  EXPECT_EQ(counters.requests, 1U);
  EXPECT_EQ(counters.bytes, 256U);
  EXPECT_EQ(counters.sectors, 8U);
}

TEST(SimulatedBulkCopy, GoesToGlobalMemoryInGroups) {
  // Written when the group is waited for, or at the latest when the block ends.
  for (const std::string way : {"cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0;", ""}) {
    LaneKernel kernel(
        "mov.u32 %r2, 7; st.shared.v4.u32 [0], {%r2, %r2, %r2, %r2}; fence.proxy.async.shared::cta;\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [0], 16; cp.async.bulk.commit_group;\n"
        "mov.u32 %r2, 9; st.shared.u32 [0], %r2;\n" +
            way + "ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd1+16], %r3; ret;",
        Words(4), 8);
    const Words out = kernel.results(1, 16);
    EXPECT_EQ(out[0], 7U) << way;  // as it was when the copy began
    EXPECT_EQ(out[4], way == "cp.async.bulk.wait_group 0;" ? 7U : 0xffffffffU) << way;
  }
}

TEST(SimulatedBulkCopy, NotMoreThan256AreKeptBack) {
  // 257 to shared memory, or to global memory: the first has landed, though nobody waits; the others have not.
  LaneKernel arriving(initialize(1) +
                          "mov.u32 %r2, 0; mov.u32 %r3, 16;\nMORE: "
                          "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r3], [%rd2], 16, [0];\n"
                          "add.u32 %r2, %r2, 1; add.u32 %r3, %r3, 16; setp.le.u32 %p1, %r2, 256; @%p1 bra MORE;\n"
                          "ld.shared.u32 %r4, [16]; ld.shared.u32 %r5, [32]; st.global.v2.u32 [%rd4], {%r4, %r5}; ret;",
                      Words(4, 7), 2, 1, 2);
  EXPECT_EQ(arriving.results(1, 16 * 258), (Words{7, 0}));
  LaneKernel in_groups(
      "mov.u32 %r2, 0; mov.u64 %rd6, %rd1; mov.u32 %r3, 7; st.shared.u32 [0], %r3;\nMORE: "
      "cp.async.bulk.global.shared::cta.bulk_group [%rd6], [0], 16; cp.async.bulk.commit_group;\n"
      "add.u32 %r2, %r2, 1; add.s64 %rd6, %rd6, 16; setp.le.u32 %p1, %r2, 256; @%p1 bra MORE;\n"
      "ld.global.u32 %r4, [%rd1]; ld.global.u32 %r5, [%rd1+16]; cp.async.bulk.wait_group 0;\n"
      "ld.global.u32 %r6, [%rd1+16]; st.global.v2.u32 [%rd1], {%r4, %r5}; st.global.u32 [%rd1+8], %r6; "
      "ret;",
      Words(4), 1028);
  const Words out = in_groups.results(1, 16);
  EXPECT_EQ(Words(out.begin(), out.begin() + 3), (Words{7, 0xffffffffU, 7}));
}

TEST(SimulatedBulkCopy, Reduces) {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  LaneKernel right(
      initialize(1) +
          "mov.u32 %r2, 5; st.shared.v4.u32 [16], {%r2, %r2, %r2, %r2}; mov.f32 %f1, 0f3FC00000;\n"
          "st.shared.v4.f32 [32], {%f1, %f1, %f1, %f1}; st.shared.v4.u32 [48], {%r2, %r2, %r2, %r2};\n"
          "st.shared.v4.u32 [64], {%r2, %r2, %r2, %r2}; mov.u64 %rd6, 0x100000002;\n"
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [16], 16;\n"
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1+16], [32], 16;\n"
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u64 [%rd1+32], [16], 16;\n"
          "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
          "mbarrier.arrive.expect_tx.shared.b64 _, [0], 32;\n"
          "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [48], "
          "[16], 16, [0];\n"
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [64], {%r2, %r1}, [0];\n"
          "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [72], %rd6, "
          "[0];\n" +
          wait("W", 0) +
          "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [64]; st.global.v4.u32 [%rd1+48], {%r3, %r4, %r5, %r6};\n"
          "ld.shared.u32 %r3, [48]; st.global.u32 [%rd1+64], %r3; ret;",
      Words(4), 17);
  const std::vector<std::uint32_t> before(12, 0);
  std::memcpy(right.run.memory().host(right.out), before.data(), 48);
  const Words out = right.results(1, 80);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(out[i], 5U);
    EXPECT_EQ(out[4 + i], bits(1.5F));
    EXPECT_EQ(out[8 + i], 5U);
  }
  EXPECT_EQ(Words(out.begin() + 12, out.end()), (Words{5, 0, 7, 6, 10}));
}

TEST(SimulatedBulkCopy, IsCheckedAsAnyAccess) {
  const auto fault = [](const std::string& copy) {
    return LaneKernel(initialize(1) + copy + " ret;", Words(64), 32).fault(1, 64);
  };
  const std::string load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  EXPECT_THAT(fault(load + "[16], [%rd2], 24, [0];"), HasSubstr("a bulk copy of 24 bytes; multiples of 16"));
  EXPECT_THAT(fault(load + "[8], [%rd2], 16, [0];"), HasSubstr("misaligned write of 16 bytes at shared offset 0x8"));
  EXPECT_THAT(fault(load + "[16], [%rd2+8], 16, [0];"), HasSubstr("misaligned read"));
  EXPECT_THAT(fault(load + "[16], [%rd2], 64, [0];"), HasSubstr("write of 64 bytes at offset 16 of 64 bytes"));
  EXPECT_THAT(fault(load + "[16], [%rd2+240], 32, [0];"), HasSubstr("read of 32 bytes"));
  EXPECT_THAT(fault("cp.async.bulk.global.shared::cta.bulk_group [%rd1+128], [0], 16;"),
              HasSubstr("write of 16 bytes"));
  EXPECT_THAT(fault(load + "[16], [%rd2], 16, [8];\nW: mbarrier.try_wait.parity.shared.b64 %p2, [8], 0; @!%p2 bra W;"),
              HasSubstr("not initialised"));
}

TEST(SimulatedBulkCopy, ItsBytesAreCountedByDirectionAndOnlyWhereThereAreSome) {
  const auto counted = [](LaneKernel& kernel) {
    std::map<std::string, double> values;
    for (const auto& [name, value] : metric_values(*kernel.run.program().kernel, kernel.launch(64, 512)).counted) {
      if (name.find("tma") != std::string::npos || name.find("sectors") != std::string::npos) values[name] = value;
    }
    return values;
  };
  const std::string async =
      "shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, 16; mul.wide.u32 %rd6, %r1, 4; add.u64 %rd6, %rd6, %rd2;\n"
      "@%p1 cp.async.ca.shared.global [%r2], [%rd6], 4; cp.async.wait_all;\n";
  LaneKernel kernel(initialize(1) + kBulkLoad + wait("W", 0) + async +
                        "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [0], 128;\n"
                        "@%p1 cp.async.bulk.prefetch.L2.global [%rd2], 64;\n"
                        "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0; ret;",
                    noise(64), 1024, 1, 4);
  const auto values = counted(kernel);
  EXPECT_EQ(values.at("l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"), 256);
  EXPECT_EQ(values.at("l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum"), 128);
  EXPECT_EQ(values.at("sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"), 1);
  EXPECT_EQ(values.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 0);
  LaneKernel without("ret;", noise(64), 1024, 1, 4);
  for (const auto& [name, value] : counted(without)) EXPECT_EQ(name.find("tma"), std::string::npos) << name;
}

/// What initcheck and racecheck find.
std::vector<std::string> problems(const std::string& body, unsigned threads) {
  LaneKernel kernel(body, noise(256), 1024, 1, 4);
  LaunchConfiguration configuration;
  configuration.block = {threads};
  configuration.dynamic_shared_bytes = 1024;
  configuration.collect_findings = true;
  std::optional<RaceChecker> race;
  std::optional<InitializationChecker> initialization;
  WrittenMemory written;
  const auto allocations = written_allocations(kernel.run.program(), kernel.run.parameters(), kernel.run.memory());
  const LaunchResult result = kernel.run.launch(configuration, [&](FindingLog& findings) {
    return std::vector<AccessObserver*>{&race.emplace(kernel.run.program(), allocations, findings),
                                        &initialization.emplace(written, findings)};
  });
  std::vector<std::string> texts;
  for (const Finding& finding : result.findings.findings()) texts.push_back(to_text(finding));
  return texts;
}

TEST(SimulatedBulkCopy, CheckersSeeWhoHasWaited) {
  const std::string read = "shl.b32 %r2, %r1, 2; ld.shared.u32 %r3, [%r2+16]; st.global.u32 [%rd4], %r3;\n";
  EXPECT_THAT(problems(initialize(1) + kBulkLoad + wait("W", 0) + read + "ret;", 64), IsEmpty());
  // Without the wait nothing is there, and the copy may come at any time.
  const auto early = problems(initialize(1) + kBulkLoad + read + "ret;", 64);
  EXPECT_THAT(early, testing::Contains(HasSubstr("initcheck: read of 4 bytes at offset 16 of shared memory")));
  EXPECT_THAT(early, testing::Contains(HasSubstr("racecheck: read after write")));
  // Into a buffer that others still read: those must have been waited for.
  const std::string again =
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [0], 256;\n"
      "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [16], [%rd2+256], 256, [0];\n";
  const std::string twice = initialize(1) + kBulkLoad + wait("W", 0) + read;
  EXPECT_THAT(problems(twice + again + wait("V", 1) + "ret;", 64), testing::Contains(HasSubstr("write after read")));
  EXPECT_THAT(problems(twice + "bar.sync 0;\n" + again + wait("V", 1) + "ret;", 64),
              testing::Contains(HasSubstr("write after read, without fence.proxy.async.shared::cta")));
  for (const char* const between : {"fence.proxy.async; bar.sync 0;\n", "bar.sync 0; fence.proxy.async;\n"}) {
    EXPECT_THAT(problems(twice + between + again + wait("V", 1) + read + "ret;", 64), IsEmpty());
  }
  // The source of a copy is read until the group has been waited for.
  const std::string store =
      "mov.u32 %r4, 3; shl.b32 %r2, %r1, 2; st.shared.u32 [%r2], %r4; fence.proxy.async; bar.sync 0;\n"
      "setp.eq.u32 %p1, %r1, 0;\n"
      "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [0], 256; @%p1 cp.async.bulk.commit_group;\n";
  const std::string overwrite = "bar.sync 0; st.shared.u32 [%r2], %r1; ret;";
  EXPECT_THAT(problems(store + overwrite, 64), testing::Contains(HasSubstr("write after read")));
  EXPECT_THAT(problems(store + "@%p1 cp.async.bulk.wait_group.read 0;\n" + overwrite, 64), IsEmpty());
}

TEST(SimulatedMbarrier, OrdersWhatRacecheckSees) {
  const std::string produce =
      initialize(32) +
      "setp.lt.u32 %p3, %r1, 32; and.b32 %r2, %r1, 31; shl.b32 %r2, %r2, 2; @!%p3 bra CONSUME;\n"
      "st.shared.u32 [%r2+16], %r1; ";
  const std::string consume = "CONSUME:\n" + wait("W", 0) + "ld.shared.u32 %r3, [%r2+16];\nEND: ret;";
  EXPECT_THAT(problems(produce + "mbarrier.arrive.shared.b64 _, [0]; bra END;\n" + consume, 64), IsEmpty());
  EXPECT_THAT(problems(produce + "mbarrier.arrive.relaxed.cta.shared.b64 _, [0]; bra END;\n" + consume, 64),
              testing::Contains(HasSubstr("read after write")));
  EXPECT_THAT(
      problems(produce + "ld.global.u32 %r5, [%rd5]; bra CONSUME;\nCONSUME: ld.shared.u32 %r3, [%r2+16];\nret;", 64),
      testing::Contains(HasSubstr("read after write")));
  const std::string copy = "cp.async.ca.shared.global [%r2+16], [%rd5], 4; ";
  EXPECT_THAT(problems(produce + "bra END;\nEND: ret;\nCONSUME: ret;", 64), IsEmpty());
  const std::string produce_copy = produce.substr(0, produce.rfind("st.shared")) + copy;
  EXPECT_THAT(problems(produce_copy + "cp.async.mbarrier.arrive.noinc.shared.b64 [0]; bra END;\n" + consume, 64),
              IsEmpty());
}

}  // namespace
}  // namespace convladder::simulated
