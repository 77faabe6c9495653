// Blocks that wait for each other: barriers of the grid, flags, locks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>

#include "simulator/checkers/race_checker.hpp"
#include "simulator/checkers/written_allocations.hpp"
#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

/// In front of each kernel: %r1 = %tid.x, %r2 = %ctaid.x, %r3 = %nctaid.x, %rd1 = out, %rd2 = in, %rd6 = the block's
/// word of `out`, %rd8 = the block's word of `in`, %p1 = the first thread.
const std::string kGridBegin =
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; mul.wide.u32 %rd7, %r2, 4; add.s64 %rd6, %rd1, %rd7;\n"
    "add.s64 %rd8, %rd2, %rd7; setp.eq.u32 %p1, %r1, 0;\n";

struct GridKernel {
  explicit GridKernel(const std::string& body, std::size_t words = 64) : lanes(kGridBegin + body, Words(words), words) {
    std::memset(lanes.run.memory().host(lanes.out), 0, 4 * words);
  }
  LaunchResult launch(unsigned blocks, unsigned threads, int host_threads = 1, bool collect = false) {
    LaunchConfiguration configuration;
    configuration.grid = {blocks};
    configuration.block = {threads};
    configuration.dynamic_shared_bytes = shared_bytes;
    configuration.host_threads = host_threads;
    configuration.collect_findings = collect;
    configuration.grid_workspace = workspace;
    return lanes.run.launch(configuration);
  }
  std::string fault(unsigned blocks, unsigned threads) {
    try {
      launch(blocks, threads);
    } catch (const KernelFault& fault) {
      return fault.what();
    }
    return "no fault";
  }
  LaneKernel lanes;
  std::uint64_t workspace = 0;
  std::uint32_t shared_bytes = 64;
};

std::vector<std::uint64_t> all_counters(const LaunchResult& result) {
  std::vector<std::uint64_t> all;
  for (const InstructionCounters& of : result.counters) {
    all.insert(all.end(),
               {of.warps, of.lanes, of.divergent_branches, of.requests, of.sectors, of.wavefronts, of.bytes});
  }
  all.insert(all.end(), {result.caches.l1_load_hits, result.caches.l2_read_hits, result.caches.dram_read_sectors});
  return all;
}

/// The same for every number of host threads: `blocks` words of `out`.
Words grid_results(const std::string& body, unsigned blocks, unsigned threads, std::size_t words = 64) {
  std::optional<Words> first;
  std::vector<std::uint64_t> counters;
  for (const int host_threads : {1, 2, 7}) {
    GridKernel kernel(body, words);
    const std::vector<std::uint64_t> now = all_counters(kernel.launch(blocks, threads, host_threads));
    const Words out = kernel.lanes.result();
    if (!first) {
      first = out;
      counters = now;
    }
    EXPECT_EQ(out, *first) << host_threads;
    EXPECT_EQ(now, counters) << host_threads;
  }
  return {first->begin(), first->begin() + blocks};
}

/// Each block writes into its word of `in`, and behind the barrier adds up those of all blocks.
std::string between_sums(const std::string& barrier) {
  return "add.u32 %r4, %r2, 10; @%p1 st.global.u32 [%rd8], %r4;\n" + barrier +
         "mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u64 %rd9, %rd2;\n"
         "SUM: ld.global.u32 %r7, [%rd9]; add.u32 %r5, %r5, %r7; add.s64 %rd9, %rd9, 4; add.u32 %r6, %r6, 1;\n"
         "setp.lt.u32 %p2, %r6, %r3; @%p2 bra SUM; @%p1 st.global.u32 [%rd6], %r5; ret;";
}
std::uint32_t sum_of(unsigned blocks) { return blocks * 10 + blocks * (blocks - 1) / 2; }

// The counter of the arrivals is the last word of `in`.
const std::string kArrive = "membar.gl; atom.global.add.u32 %r8, [%rd2+252], 1;\n";

TEST(WaitingBlocks, MeetAtABarrierOfAtomics) {
  const std::string spin =
      "bar.sync 0; @!%p1 bra MEET;\n" + kArrive +
      "WAIT: ld.volatile.global.u32 %r9, [%rd2+252]; setp.lt.u32 %p3, %r9, %r3; @%p3 bra WAIT; membar.gl;\n"
      "MEET: bar.sync 0;\n";
  EXPECT_EQ(grid_results(between_sums(spin), 9, 64), Words(9, sum_of(9)));
  const std::string sleeping =
      "bar.sync 0; @!%p1 bra MEET;\n" + kArrive +
      "WAIT: nanosleep.u32 100; ld.acquire.gpu.global.u32 %r9, [%rd2+252]; setp.lt.u32 %p3, %r9, %r3; @%p3 bra WAIT;\n"
      "MEET: bar.sync 0;\n";
  EXPECT_EQ(grid_results(between_sums(sleeping), 40, 32), Words(40, sum_of(40)));
  const std::string swapping =  // every thread waits, with an atomic
      "@!%p1 bra WAIT;\n" + kArrive +
      "WAIT: atom.global.cas.b32 %r9, [%rd2+252], %r3, %r3; setp.ne.u32 %p3, %r9, %r3; @%p3 bra WAIT;\n";
  EXPECT_EQ(grid_results(between_sums(swapping), 5, 96), Words(5, sum_of(5)));
}

TEST(WaitingBlocks, MayPollBetweenBarriersOfTheirOwn) {
  // As CUTLASS's Semaphore: while (__syncthreads_and(state != status)) fetch();
  const std::string semaphore = "@%p1 bra ARRIVE; bra POLL; ARRIVE:\n" + kArrive +
                                "POLL: ld.volatile.global.u32 %r9, [%rd2+252]; setp.ne.u32 %p3, %r9, %r3;\n"
                                "bar.red.and.pred %p4, 0, %p3; @%p4 bra POLL; membar.gl;\n";
  EXPECT_EQ(grid_results(between_sums(semaphore), 7, 64), Words(7, sum_of(7)));
  // The first thread hands on what it sees through shared memory, which it writes in each turn.
  const std::string handing_on =
      "@%p1 bra ARRIVE; bra POLL; ARRIVE:\n" + kArrive +
      "POLL: @!%p1 bra SEE; ld.volatile.global.u32 %r9, [%rd2+252]; st.shared.u32 [0], %r9;\n"
      "SEE: bar.sync 0; ld.shared.u32 %r10, [0]; bar.sync 0; setp.ne.u32 %p3, %r10, %r3; @%p3 bra POLL;\n";
  EXPECT_EQ(grid_results(between_sums(handing_on), 6, 64), Words(6, sum_of(6)));
}

TEST(WaitingBlocks, MayCountTheirTries) {  // so that nothing repeats itself
  const std::string counting =
      "bar.sync 0; @!%p1 bra MEET;\n" + kArrive +
      "mov.u32 %r11, 0;\nWAIT: add.u32 %r11, %r11, 1; ld.volatile.global.u32 %r9, [%rd2+252];\n"
      "setp.lt.u32 %p3, %r9, %r3; @%p3 bra WAIT;\nMEET: bar.sync 0;\n";
  GridKernel kernel(between_sums(counting));
  kernel.launch(3, 32);
  EXPECT_EQ(kernel.lanes.result()[2], sum_of(3));
}

TEST(WaitingBlocks, MayChangeMemoryWhileTheyWait) {
  for (const std::string change :
       {"st.volatile.global.u32 [%rd2+8], 5;", "atom.global.add.u32 %r7, [%rd2+8], 1;",
        "ld.volatile.global.u32 %r7, [%rd2+8]; add.u32 %r7, %r7, 1; st.volatile.global.u32 [%rd2+8], %r7;",
        "bar.sync 0; st.global.u32 [%rd6+4], %r1; bar.sync 0;"}) {
    const std::string body = "setp.ne.u32 %p3, %r2, 0; @%p3 bra GIVE;\nTAKE: " + change +
                             "ld.volatile.global.u32 %r6, [%rd2]; setp.eq.u32 %p4, %r6, 0; @%p4 bra TAKE;\n"
                             "st.global.u32 [%rd6], %r6; ret;\nGIVE: st.volatile.global.u32 [%rd2], %r2; ret;";
    GridKernel kernel(body);
    LaunchConfiguration configuration;
    configuration.grid = {2};
    configuration.block = {32};
    configuration.limits.operations = std::uint64_t{1} << 26;  // ends what waits for ever
    EXPECT_EQ(kernel.lanes.run.launch(configuration).stopped, "") << change;
    EXPECT_EQ(kernel.lanes.result()[0], 1U) << change;
  }
}

TEST(WaitingBlocks, ProduceAndConsumeInEitherOrder) {
  for (const char* const who : {"eq", "ne"}) {  // block 0 or block 1 waits
    const std::string body = "setp." + std::string(who) +
                             ".u32 %p3, %r2, 0; @%p3 bra TAKE;\n"
                             "mov.u32 %r4, 77; st.global.u32 [%rd2], %r4; membar.gl; mov.u32 %r5, 1;\n"
                             "st.volatile.global.u32 [%rd2+4], %r5; st.global.u32 [%rd6], %r5; ret;\n"
                             "TAKE: ld.volatile.global.u32 %r6, [%rd2+4]; setp.eq.u32 %p4, %r6, 0; @%p4 bra TAKE;\n"
                             "membar.gl; ld.global.u32 %r7, [%rd2]; st.global.u32 [%rd6], %r7; ret;";
    Words out = grid_results(body, 2, 1);
    std::ranges::sort(out);
    EXPECT_EQ(out, (Words{1, 77})) << who;
  }
}

TEST(WaitingBlocks, PollWithVolatileLoadsAlone) {  // no fence, no atomic
  const std::string body =
      "setp.ne.u32 %p3, %r2, 0; @%p3 bra GIVE;\n"
      "TAKE: ld.volatile.global.u32 %r6, [%rd2]; setp.eq.u32 %p4, %r6, 0; @%p4 bra TAKE;\n"
      "st.global.u32 [%rd6], %r6; ret;\nGIVE: st.volatile.global.u32 [%rd2], %r2; ret;";
  EXPECT_EQ(grid_results(body, 2, 1), (Words{1, 0}));
}

TEST(WaitingBlocks, LookBackAtBlocksBeforeOrBehindThem) {
  // Each waits for its neighbour's running sum and adds its own number; the last of the chain begins with it.
  for (const bool upwards : {true, false}) {
    const std::string neighbour = upwards ? "-4" : "4";
    const std::string last = upwards ? "setp.eq.u32 %p3, %r2, 0;" : "add.u32 %r4, %r2, 1; setp.eq.u32 %p3, %r4, %r3;";
    const std::string body =
        last +
        "mov.u32 %r5, 0; @%p3 bra GIVE;\n"
        "WAIT: ld.acquire.gpu.global.u32 %r5, [%rd8+" +
        neighbour +
        "]; setp.eq.u32 %p4, %r5, 0; @%p4 bra WAIT;\n"
        "GIVE: add.u32 %r5, %r5, %r2; add.u32 %r5, %r5, 1; st.release.gpu.global.u32 [%rd8], %r5;\n"
        "st.global.u32 [%rd6], %r5; ret;";
    Words expected(50);
    std::iota(expected.begin(), expected.end(), 1);
    if (!upwards) std::ranges::reverse(expected);
    std::partial_sum(expected.begin(), expected.end(), expected.begin());
    if (!upwards) std::ranges::reverse(expected);
    EXPECT_EQ(grid_results(body, 50, 1), expected) << upwards;
  }
}

TEST(WaitingBlocks, TakeTicketsOfALock) {
  // The tickets are drawn by two warps of each block; each holder adds to a sum without an atomic.
  const std::string body =
      "and.b32 %r4, %r1, 31; setp.ne.u32 %p3, %r4, 0; @%p3 bra END;\n"
      "atom.global.add.u32 %r5, [%rd2], 1;\n"
      "WAIT: ld.volatile.global.u32 %r6, [%rd2+4]; setp.ne.u32 %p4, %r6, %r5; @%p4 bra WAIT; membar.gl;\n"
      "ld.volatile.global.u32 %r7, [%rd1]; mad.lo.u32 %r7, %r7, 3, 1; st.volatile.global.u32 [%rd1], %r7; membar.gl;\n"
      "atom.global.add.u32 %r8, [%rd2+4], 1;\nEND: ret;";
  std::uint32_t expected = 0;
  for (int holder = 0; holder < 20; ++holder) expected = expected * 3 + 1;
  EXPECT_EQ(grid_results(body, 10, 64)[0], expected);
}

TEST(WaitingBlocks, MeetAsCooperativeGroupsLetThem) {
  // What nvcc 13 makes of grid.sync(), twice. Without a workspace it traps.
  const std::string sync =
      "bar.sync 0; @!%p1 bra M#; mov.u32 %r11, -2147483647; sub.s32 %r11, %r11, %r3; setp.eq.u32 %p5, %r2, 0;\n"
      "selp.b32 %r11, %r11, 1, %p5; atom.add.release.gpu.u32 %r12, [%rd12+4], %r11;\n"
      "W#: ld.acquire.gpu.u32 %r13, [%rd12+4]; xor.b32 %r14, %r13, %r12; setp.gt.s32 %p6, %r14, -1; @%p6 bra W#;\n"
      "M#: bar.sync 0;\n";
  const auto numbered = [&sync](char number) {
    std::string text = sync;
    std::ranges::replace(text, '#', number);
    return text;
  };
  const std::string body = between_sums(
      "mov.u32 %r9, %envreg2; mov.u32 %r10, %envreg1; mov.b64 %rd12, {%r9, %r10}; setp.ne.s64 %p7, %rd12, 0;\n"
      "@!%p7 trap;\n" +
      numbered('1') + numbered('2'));
  for (const int host_threads : {1, 7}) {
    GridKernel kernel(body);
    kernel.workspace = kernel.lanes.run.array(Words(kGridWorkspaceBytes / 4), "workspace");
    kernel.launch(33, 64, host_threads);
    const Words out = kernel.lanes.result();
    EXPECT_EQ(Words(out.begin(), out.begin() + 33), Words(33, sum_of(33)));
  }
  EXPECT_THAT(GridKernel(body).fault(4, 32), HasSubstr("a trap was executed"));
}

TEST(WaitingBlocks, ForOneThatHasTrappedAreNoFinding) {
  // On a GPU the trap ends the grid, so nobody waits for ever.
  GridKernel kernel(
      "setp.eq.u32 %p2, %r2, 1; @%p2 trap; WAIT: ld.acquire.gpu.global.u32 %r5, [%rd2]; setp.eq.u32 %p4, %r5, 0;\n"
      "@%p4 bra WAIT; ret;");
  const std::vector<Finding> found = kernel.launch(3, 32, 1, true).findings.findings();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(to_text(found[0]), HasSubstr("a trap was executed"));
}

TEST(WaitingBlocks, ThatNobodyCanHelpAreReported) {
  const std::string lost = "WAIT: ld.acquire.gpu.global.u32 %r5, [%rd2]; setp.eq.u32 %p4, %r5, 0; @%p4 bra WAIT; ret;";
  EXPECT_THAT(GridKernel(lost).fault(3, 32), HasSubstr("nor can another block: 3 wait, 0 have ended"));
  const std::string half = "setp.ne.u32 %p3, %r2, 1; @%p3 bra END;\n" + lost + "\nEND: ret;";
  EXPECT_THAT(GridKernel(half).fault(3, 32), HasSubstr("nor can another block: 1 wait, 2 have ended"));
  GridKernel kernel(lost);
  const std::vector<Finding> findings = kernel.launch(3, 32, 2, true).findings.findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].count, 96U);
  EXPECT_THAT(findings[0].opcode, HasSubstr("bra"));
  const std::string barriers =
      "POLL: ld.volatile.global.u32 %r9, [%rd2]; setp.eq.u32 %p3, %r9, 0; bar.red.and.pred %p4, 0, %p3;\n"
      "@%p4 bra POLL; ret;";
  EXPECT_THAT(GridKernel(barriers).fault(2, 64), HasSubstr("nor can another block: 2 wait"));
  const std::string through_shared =  // each block stores in its own shared memory in every turn
      "POLL: @!%p1 bra SEE; ld.volatile.global.u32 %r9, [%rd2]; st.shared.u32 [0], %r9;\n"
      "SEE: bar.sync 0; ld.shared.u32 %r10, [0]; bar.sync 0; setp.eq.u32 %p3, %r10, 0; @%p3 bra POLL; ret;";
  EXPECT_THAT(GridKernel(through_shared).fault(3, 64), HasSubstr("nor can another block: 3 wait"));
}

TEST(WaitingBlocks, CannotAllBeThereIfTheGpuHoldsFewer) {
  const std::string barrier_of_all =
      "@!%p1 bra MEET;\n" + kArrive +
      "WAIT: ld.volatile.global.u32 %r9, [%rd2+252]; setp.lt.u32 %p3, %r9, %r3; @%p3 bra WAIT; MEET: bar.sync 0; ret;";
  const auto fault = [&](unsigned blocks) {
    GridKernel kernel(barrier_of_all);
    kernel.shared_bytes = 200 * 1024;  // so that a multiprocessor holds one
    return kernel.fault(blocks, 32);
  };
  EXPECT_EQ(fault(132), "no fault");
  EXPECT_THAT(
      fault(135),
      HasSubstr("132 wait, 0 have ended, and 3 have not begun, as NVIDIA H100 SXM holds 132 of them at a time"));
}

TEST(WaitingBlocks, HaveShadowsOfTheirOwn) {
  // Behind a barrier of the grid each block reads its shared memory, and what the others wrote: no race.
  const auto races = [](const std::string& arrival) {
    GridKernel kernel(
        between_sums("mad.lo.u32 %r20, %r1, 4, 0; st.shared.u32 [%r20], %r1; bar.sync 0; @!%p1 bra MEET;\n" + arrival +
                     "WAIT: ld.volatile.global.u32 %r9, [%rd2+252]; setp.lt.u32 %p3, %r9, %r3;\n"
                     "@%p3 bra WAIT; membar.gl;\nMEET: bar.sync 0; ld.shared.u32 %r21, [%r20];\n"));
    LaunchConfiguration configuration;
    configuration.grid = {4};
    configuration.block = {16};
    configuration.dynamic_shared_bytes = 64;
    configuration.collect_findings = true;
    std::optional<RaceChecker> checker;
    const LaunchResult result = kernel.lanes.run.launch(configuration, [&](FindingLog& findings) {
      return std::vector<AccessObserver*>{&checker.emplace(
          kernel.lanes.run.program(),
          written_allocations(kernel.lanes.run.program(), kernel.lanes.run.parameters(), kernel.lanes.run.memory()),
          findings)};
    });
    return result.findings.findings();
  };
  EXPECT_TRUE(races(kArrive).empty());
  EXPECT_FALSE(races("atom.relaxed.gpu.global.add.u32 %r8, [%rd2+252], 1;\n").empty());  // no release
}

}  // namespace
}  // namespace convladder::simulated
