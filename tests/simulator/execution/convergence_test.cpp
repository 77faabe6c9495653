// Lanes of a warp that go different ways: some return early, some wait for others, and what they wait for still comes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sanitized.hpp"
#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr unsigned kThreads = 80;  // of which the last warp has 16

/// Runs with checkers, which find nothing, and returns what the threads wrote; 0xffffffff for those that wrote nothing.
Words clean_results(LaneKernel& kernel, unsigned threads = kThreads, std::uint32_t shared_bytes = 4096) {
  EXPECT_THAT(kernel.findings(threads, shared_bytes), IsEmpty());
  return kernel.result();
}

/// Every thread stores its number, waits, and takes its mirror image's among the first `count`.
std::string exchange(unsigned count) {
  return "shl.b32 %r10, %r1, 2; st.shared.u32 [%r10], %r1; bar.sync 0;\n"
         "mov.u32 %r11, " +
         std::to_string(4 * (count - 1)) + "; sub.u32 %r11, %r11, %r10; ld.shared.u32 %r3, [%r11];\n";
}

Words mirrored(unsigned count, std::uint32_t others) {
  Words expected(kThreads, others);
  for (unsigned i = 0; i < count; ++i) expected[i] = count - 1 - i;
  return expected;
}

TEST(SimulatedConvergence, WhoHasReturnedIsNotWaitedFor) {
  LaneKernel kernel(
      "setp.ge.u32 %p1, %r1, 50; @%p1 bra done;\n" + exchange(50) + "st.global.u32 [%rd4], %r3;\ndone: ret;",
      Words(kThreads), kThreads);
  EXPECT_EQ(clean_results(kernel), mirrored(50, 0xffffffffU));
}

TEST(SimulatedConvergence, WhoReturnsAfterSomeWorkIsNotWaitedForEither) {
  for (const char* const leave :
       {"leave: st.global.u32 [%rd4], 7; bra done;\n", "leave: st.global.u32 [%rd4], 7; ret;\n"}) {
    const std::string work = exchange(50) + "st.global.u32 [%rd4], %r3; ";
    const std::string decide = "mov.u32 %r20, 7; setp.ge.u32 %p1, %r1, 50; ";
    std::string leaving = leave;
    leaving.replace(leaving.find(", 7"), 3, ", %r20");
    LaneKernel taken(fmt::format("{}@%p1 bra leave;\n{}bra done;\n{}done: ret;", decide, work, leaving),
                     Words(kThreads), kThreads);
    EXPECT_EQ(clean_results(taken), mirrored(50, 7));
    LaneKernel fallen(fmt::format("{}@!%p1 bra work;\n{}work: {}\ndone: ret;", decide, leaving, work), Words(kThreads),
                      kThreads);
    EXPECT_EQ(clean_results(fallen), mirrored(50, 7));
  }
}

TEST(SimulatedConvergence, AReturnFromALoopLeavesTheOthersInIt) {
  // In round i thread i returns; the others count who is left.
  LaneKernel kernel(
      "mov.u32 %r2, 0; mov.u32 %r3, 0; setp.ge.u32 %p2, %r1, 100;\n"
      "loop: setp.ne.u32 %p1, %r2, %r1; @%p1 bra on; st.global.u32 [%rd4], %r3; ret;\n"
      "on: bar.red.popc.u32 %r4, 0, !%p2; add.u32 %r3, %r3, %r4;\n"
      "add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 40; @%p3 bra loop;\n"
      "st.global.u32 [%rd4], %r3; ret;",
      Words(kThreads), kThreads);
  Words expected(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) {
    for (unsigned round = 0; round < std::min(i, 40U); ++round) expected[i] += kThreads - round - 1;
  }
  EXPECT_EQ(clean_results(kernel), expected);
}

TEST(SimulatedConvergence, LanesThatReturnedTakeNoPartInVotesAndShuffles) {
  LaneKernel kernel(
      "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1; @%p1 bra done;\n"
      "vote.sync.ballot.b32 %r3, !%p1, -1; shfl.sync.idx.b32 %r4, %r1, 4, 31, -1; bar.warp.sync -1;\n"
      "add.u32 %r3, %r3, %r4; st.global.u32 [%rd4], %r3;\ndone: ret;",
      Words(32), 32);
  const Words found = clean_results(kernel, 32);
  EXPECT_EQ(found[0], 0x55555555U + 4);
  EXPECT_EQ(found[1], 0xffffffffU);
}

TEST(SimulatedConvergence, LanesThatComeALongerWayAreWaitedFor) {
  // Half of the lanes meet at the vote by a way of their own.
  LaneKernel kernel(
      "setp.lt.u32 %p1, %r1, 16; @%p1 bra first;\n"
      "mov.u32 %r2, 1; bra vote;\nfirst: mov.u32 %r2, 2; setp.lt.u32 %p2, %r1, 40; @!%p2 bra early;\n"
      "vote: vote.sync.ballot.b32 %r3, %p1, -1; st.global.u32 [%rd4], %r3; ret;\nearly: ret;",
      Words(32), 32);
  EXPECT_EQ(clean_results(kernel, 32), Words(32, 0x0000ffffU));
}

TEST(SimulatedConvergence, TwoBarriersOfAWarpCanBeOne) {
  LaneKernel kernel(
      "shl.b32 %r10, %r1, 2; xor.b32 %r11, %r10, 64; setp.lt.u32 %p1, %r1, 16; @%p1 bra low;\n"
      "st.shared.u32 [%r10], %r1; bar.warp.sync -1; ld.shared.u32 %r3, [%r11]; bra meet;\n"
      "low: add.u32 %r2, %r1, 100; st.shared.u32 [%r10], %r2; bar.warp.sync -1; ld.shared.u32 %r3, [%r11];\n"
      "meet: st.global.u32 [%rd4], %r3; ret;",
      Words(32), 32);
  const Words found = clean_results(kernel, 32);
  EXPECT_EQ(found[0], 16U);
  EXPECT_EQ(found[16], 100U);
}

TEST(SimulatedConvergence, ALockBetweenLanesIsTakenByOneAfterTheOther) {
  LaneKernel kernel(
      "take: atom.shared.cas.b32 %r2, [0], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra take;\n"
      "ld.volatile.shared.u32 %r3, [4]; add.u32 %r3, %r3, 1; st.volatile.shared.u32 [4], %r3;\n"
      "membar.cta; atom.shared.exch.b32 %r4, [0], 0; st.global.u32 [%rd4], %r3; ret;",
      Words(64), 64);
  kernel.launch(64, 8);
  Words found = kernel.result();
  std::ranges::sort(found);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(found[i], i + 1);
}

TEST(SimulatedConvergence, LanesWaitForWhatAnotherOfTheirWarpWrites) {
  const std::string wait = "wait: ld.volatile.shared.u32 %r3, [0]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait; bra done;\n";
  const std::string write = "write: mov.u32 %r4, 9; st.volatile.shared.u32 [0], %r4; mov.u32 %r3, 5; bra done;\n";
  const std::string done = "done: st.global.u32 [%rd4], %r3; ret;";
  const std::string decide = "setp.eq.u32 %p1, %r1, 7; ";
  Words expected(32, 9);
  expected[7] = 5;
  LaneKernel writer_behind(decide + "@%p1 bra write;\n" + wait + write + done, Words(32), 32);
  EXPECT_EQ(writer_behind.results(32, 4), expected);
  LaneKernel waiters_behind(decide + "@!%p1 bra wait;\n" + write + wait + done, Words(32), 32);
  EXPECT_EQ(waiters_behind.results(32, 4), expected);
}

TEST(SimulatedConvergence, WhoCannotComeIsReported) {
  LaneKernel crossed(
      "setp.lt.u32 %p1, %r1, 5; @%p1 bra other; bar.warp.sync -1; bra meet;\nother: bar.sync 0;\n"
      "meet: st.global.u32 [%rd4], %r1; ret;",
      Words(32), 32);
  EXPECT_THAT(crossed.fault(), HasSubstr("synccheck: "));
  LaneKernel vote(
      "setp.lt.u32 %p1, %r1, 5; @%p1 bra meet; vote.sync.any.pred %p2, %p1, -1;\n"
      "meet: st.global.u32 [%rd4], %r1; ret;",
      Words(32), 32);
  EXPECT_THAT(to_text(vote.findings(32).at(0)), HasSubstr("names 5 threads that do not execute this"));
}

TEST(SimulatedConvergence, AnExchangeWaitsOnlyForLanesThatHaveNotExited) {
  // Lane 0 runs on to its exit, directly, behind stores, in a loop, or out of a function; the others wait for that
  // long.
  for (const char* const way : {"bra meet;", "st.global.u32 [%rd4], %r1; ret;",
                                "mov.u32 %r2, 9; L: sub.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0;"
                                " @%p2 bra L; bra meet;",
                                "exit;"}) {
    LaneKernel kernel(std::string("mov.u32 %r3, 7; setp.eq.u32 %p1, %r1, 0; @%p1 bra other;\n"
                                  "vote.sync.ballot.b32 %r3, !%p1, -1; popc.b32 %r3, %r3; bra meet;\nother: ") +
                          way + "\nmeet: st.global.u32 [%rd4], %r3; ret;",
                      Words(32), 32);
    const Words found = kernel.results();
    EXPECT_EQ(Words(found.begin() + 1, found.end()), Words(31, 31)) << way;
  }
}

/// Lanes below `first` execute `low`, the others `high`; then all store %r3.
LaneKernel on_two_ways(const std::string& low, const std::string& high, unsigned first = 16, unsigned threads = 32) {
  return LaneKernel("setp.lt.u32 %p1, %r1, " + std::to_string(first) +
                        "; add.u32 %r2, %r1, 100; setp.ge.u32 %p2, %r1, 3; @!%p1 bra HIGH;\n" + low +
                        "\nbra MEET;\nHIGH: " + high + "\nMEET: st.global.u32 [%rd4], %r3; ret;",
                    Words(threads), threads);
}

TEST(SimulatedConvergence, OneExchangeMayStandOnTwoWays) {
  struct Case {
    const char* low;
    const char* high;
    std::uint32_t of_low;
    std::uint32_t of_high;
  };
  const std::string all = "vote.sync.all.pred %p3, %p2, -1; selp.u32 %r3, 1, 0, %p3;";
  const std::string any = "vote.sync.any.pred %p3, %p2, -1; selp.u32 %r3, 1, 0, %p3;";
  const Case cases[] = {
      {all.c_str(), all.c_str(), 0, 0},
      {any.c_str(), any.c_str(), 1, 1},
      {"vote.sync.ballot.b32 %r3, %p1, -1;", "vote.sync.ballot.b32 %r3, %p2, -1;", 0xffffffffU, 0xffffffffU},
      {"shfl.sync.idx.b32 %r3, %r2, 31, 31, -1;", "shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;", 131, 100},
      {"shfl.sync.idx.b32 %r3|%p3, %r1, 20, 31, -1;", "shfl.sync.idx.b32 %r3|%p4, %r2, 2, 31, -1;", 120, 2},
      {"match.any.sync.b32 %r3, 5, -1;", "match.any.sync.b32 %r3, 5, -1;", 0xffffffffU, 0xffffffffU},
      {"match.any.sync.b32 %r3, 5, -1;", "match.any.sync.b32 %r3, 6, -1;", 0x0000ffffU, 0xffff0000U},
      {"mov.u64 %rd6, 5; match.all.sync.b64 %r3|%p3, %rd6, -1;",
       "mov.u64 %rd7, 5; match.all.sync.b64 %r3|%p3, %rd7, -1;", 0xffffffffU, 0xffffffffU},
      {"redux.sync.add.u32 %r3, %r1, -1;", "redux.sync.add.u32 %r3, 1, -1;", 136, 136},
      {"elect.sync %r3|%p3, -1;", "elect.sync %r3|%p3, -1;", 0, 0},
      {"@%p1 redux.sync.max.s32 %r3, %r1, -1;", "@!%p1 redux.sync.max.s32 %r3, %r2, -1;", 131, 131},
  };
  for (const Case& one : cases) {
    LaneKernel kernel = on_two_ways(one.low, one.high);
    Words expected(32, one.of_low);
    std::fill(expected.begin() + 16, expected.end(), one.of_high);
    EXPECT_EQ(clean_results(kernel, 32), expected) << one.low;
    EXPECT_EQ(on_two_ways(one.low, one.high).results(), expected) << one.low;
  }
  // The sum of all lanes below 32 of which 20 went another way; three ways; with masks of groups.
  LaneKernel uneven = on_two_ways("redux.sync.add.u32 %r3, %r1, -1;", "redux.sync.add.u32 %r3, %r1, -1;", 12);
  EXPECT_EQ(clean_results(uneven, 32), Words(32, 496));
  LaneKernel three(
      "setp.lt.u32 %p1, %r1, 4; @%p1 bra A; setp.lt.u32 %p2, %r1, 20; @%p2 bra B; redux.sync.add.u32 %r3, 1, -1; bra "
      "M;\n"
      "A: redux.sync.add.u32 %r3, 10, -1; bra M;\nB: redux.sync.add.u32 %r3, 100, -1;\nM: st.global.u32 [%rd4], %r3; "
      "ret;",
      Words(32), 32);
  EXPECT_EQ(clean_results(three, 32), Words(32, 4 * 10 + 16 * 100 + 12));
  LaneKernel groups =
      on_two_ways("mov.u32 %r9, 255; and.b32 %r4, %r1, 24; shl.b32 %r5, %r9, %r4; redux.sync.add.u32 %r3, 1, %r5;",
                  "mov.u32 %r9, 255; and.b32 %r4, %r1, 24; shl.b32 %r6, %r9, %r4; redux.sync.add.u32 %r3, 2, %r6;", 12);
  Words expected(32, 16);
  for (unsigned i = 0; i < 16; ++i) expected[i] = i < 8 ? 8 : 12;
  EXPECT_EQ(clean_results(groups, 32), expected);
  // Other qualifiers or another mask are another exchange.
  EXPECT_FALSE(on_two_ways(all, any).findings().empty());
  EXPECT_FALSE(
      on_two_ways("redux.sync.add.u32 %r3, 1, -1;", "redux.sync.add.u32 %r3, 1, 0xfffffffe;").findings().empty());
}

TEST(SimulatedConvergence, ABarrierOfThreadsMayStandOnTwoWays) {
  const std::string write = "shl.b32 %r10, %r1, 2; st.shared.u32 [%r10], %r2; ";
  const std::string read = " xor.b32 %r11, %r10, 64; ld.shared.u32 %r3, [%r11];";
  Words expected(64);
  for (unsigned i = 0; i < 64; ++i) expected[i] = (i ^ 16U) + 100;
  for (const char* const barrier :
       {"barrier.sync 0;", "barrier.cta.sync 0;", "barrier.sync 3, 64;", "mov.u32 %r12, 2; barrier.sync %r12;",
        "barrier.cluster.arrive; barrier.cluster.wait;"}) {
    const auto make = [&] { return on_two_ways(write + barrier + read, write + barrier + read, 12, 64); };
    LaneKernel kernel = make();
    EXPECT_EQ(clean_results(kernel, 64), expected) << barrier;
    EXPECT_EQ(make().results(64, 256), expected) << barrier;
  }
  LaneKernel reduction = on_two_ways("barrier.red.popc.u32 %r3, 0, %p2;", "barrier.red.popc.u32 %r3, 0, %p2;", 12, 64);
  EXPECT_EQ(clean_results(reduction, 64), Words(64, 61));
  // A barrier of whole warps may not, and neither may two barriers.
  EXPECT_FALSE(on_two_ways("bar.sync 0;", "bar.sync 0;").findings().empty());
  EXPECT_FALSE(on_two_ways("barrier.sync 0;", "barrier.sync 1;").findings().empty());
}

TEST(SimulatedConvergence, ABarrierInALoopThatLanesLeaveAtDifferentTimesIsReported) {
  const std::string loop =
      "and.b32 %r2, %r1, 3;\nloop: bar.sync 0; sub.u32 %r2, %r2, 1; setp.ge.s32 %p2, %r2, 0; @%p2 bra loop;\n"
      "st.global.u32 [%rd4], %r1; ret;\n";
  LaneKernel kernel(loop, Words(32), 32);
  EXPECT_THAT(kernel.fault(), HasSubstr("barrier in divergent code: 8 of the warp's 32 threads"));
  LaneKernel with_early_return("setp.ge.u32 %p1, %r1, 32; @%p1 bra done;\n" + loop + "done: ret;", Words(64), 64);
  EXPECT_THAT(with_early_return.fault(64), HasSubstr("barrier in divergent code: 8 of the warp's 32 threads"));
}

TEST(SimulatedConvergence, LanesThatLeaveALoopWithABarrierToReturnAreNotReported) {
  // In each round a lane leaves, works on, and returns; wherever the compiler puts that.
  const std::string count = "bar.red.popc.u32 %r4, 0, !%p2; add.u32 %r3, %r3, %r4;\n";
  const std::string work = "add.u32 %r3, %r3, 1000; st.global.u32 [%rd4], %r3; ";
  const std::string begin =
      "mov.u32 %r2, 0; mov.u32 %r3, 0; setp.ge.u32 %p2, %r1, 100;\nloop: setp.eq.u32 %p1, %r2, %r1; ";
  const std::string store = "st.global.u32 [%rd4], %r3; ";
  const std::string again = "add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 20; @%p3 bra loop;\n";
  Words expected(32);
  for (unsigned i = 0; i < 32; ++i) {
    for (unsigned round = 0; round < std::min(i, 20U); ++round) expected[i] += 32 - round - 1;
    expected[i] += i < 20 ? 1000 : 0;
  }
  for (const std::string& text :
       {fmt::format("{}@%p1 bra cold;\n{}{}{} ret;\ncold: {}ret;", begin, count, again, store, work),
        fmt::format("{}@!%p1 bra on;\n{}ret;\non: {}{}{} ret;", begin, work, count, again, store),
        fmt::format("{}@%p1 bra cold;\n{}{}{}ret;\ncold: {}ret;", begin, count, store, again, work),
        fmt::format("{}@%p1 bra cold;\n{}{}{}bra done;\ncold: {}\ndone: ret;", begin, count, store, again, work)}) {
    LaneKernel kernel(text, Words(32), 32);
    EXPECT_EQ(clean_results(kernel, 32), expected) << text;
  }
}

TEST(SimulatedConvergence, LanesThatLeaveALoopForGoodRunTogether) {
  // Lane i leaves in round i; the rest leave at the end, and vote there.
  LaneKernel kernel(
      "mov.u32 %r2, 0; setp.ge.u32 %p2, %r1, 16;\n"
      "loop: setp.eq.u32 %p1, %r2, %r1; @%p1 bra aside;\n"
      "add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 16; @%p3 bra loop;\n"
      "vote.sync.any.pred %p4, %p2, -1; st.global.u32 [%rd4], %r2; ret;\n"
      "aside: not.b32 %r3, %r2; st.global.u32 [%rd4], %r3; ret;",
      Words(32), 32);
  const LaunchResult result = kernel.launch(32);
  EXPECT_EQ(kernel.run.of(result, "not.b32").warps, 1U);
  EXPECT_EQ(kernel.run.of(result, "not.b32").lanes, 16U);
}

TEST(SimulatedConvergence, AKernelMayEndInThousandsOfPlaces) {
  // As in languages that check each index: every check is a branch, and a place that traps.
  std::string checks = "vote.sync.any.pred %p2, %p1, -1;\n";
  std::string traps;
  constexpr int kPlaces = kSanitized ? 1000 : 4000;
  for (int i = 0; i < kPlaces; ++i) {
    checks += fmt::format("setp.ge.u32 %p1, %r1, {}; @%p1 bra trap{};\n", 32 + i, i);
    traps += fmt::format("trap{}: trap;\n", i);
  }
  LaneKernel kernel(checks + "st.global.u32 [%rd4], %r1; ret;\n" + traps, Words(32), 32);
  Words expected(32);
  for (unsigned i = 0; i < 32; ++i) expected[i] = i;
  EXPECT_EQ(clean_results(kernel, 32), expected);
}

}  // namespace
}  // namespace convladder::simulated
