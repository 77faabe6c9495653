// Races without effect are notes: equal values, values that nobody reads, loads that nobody uses. Those with an effect
// are findings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/checkers/race_checker.hpp"
#include "simulator/checkers/written_allocations.hpp"
#include "simulator/ptx_kernels.hpp"

namespace convladder::simulated {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

const auto is_note = Field(&Finding::severity, Severity::note);
const auto is_finding = Field(&Finding::severity, Severity::finding);

testing::Matcher<Finding> says(const std::string& text) { return Field(&Finding::problem, HasSubstr(text)); }

/// What racecheck finds in a block of `threads` threads. %r1 = %tid.x, %rd1 = 1024 words of memory that are zero, %rd2
/// = the thread's own word there, `s` = 256 bytes of shared memory, at %r2.
std::vector<Finding> races(const std::string& body, unsigned threads = 128, unsigned blocks = 1) {
  KernelRun kernel(kernel_text(".param .u64 out",
                               ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<20>;\n"
                               ".shared .align 16 .b8 s[256];\n"
                               "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd3, %r1, 4;\n"
                               "add.s64 %rd2, %rd1, %rd3; mov.u32 %r2, s;\n" +
                                   body + "\nret;"));
  kernel.set(0, kernel.array(std::vector<std::uint32_t>(1024), "out"));
  LaunchConfiguration configuration;
  configuration.grid = {blocks};
  configuration.block = {threads};
  configuration.collect_findings = true;
  std::optional<RaceChecker> checker;
  return kernel
      .launch(configuration,
              [&](FindingLog& findings) {
                const auto written = written_allocations(kernel.program(), kernel.parameters(), kernel.memory());
                return std::vector<AccessObserver*>{&checker.emplace(kernel.program(), written, findings)};
              })
      .findings.findings();
}

/// Lanes with the same lower three bits hold the same values, and rows of one parity have one address.
std::string store_rows(const std::string& value) {
  return "and.b32 %r3, %r1, 7; and.b32 %r4, %r1, 1; shl.b32 %r4, %r4, 5; add.u32 %r5, %r2, %r4;\n" + value +
         "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r3};\n";
}
const std::string kReadRow = "bar.sync 0; ld.shared.b32 %r8, [%r2]; st.global.b32 [%rd2], %r8;";

TEST(RaceEffects, RowsOfOneMatrixWithEqualValuesMayHaveOneAddress) {
  EXPECT_THAT(races(store_rows("") + kReadRow, 32), IsEmpty());
}

TEST(RaceEffects, RowsWithOtherValuesMayNot) {
  EXPECT_THAT(races(store_rows("mov.b32 %r3, %r1;\n") + kReadRow, 32), ElementsAre(is_finding));
}

TEST(RaceEffects, WarpsThatStoreTheSameMatrixAreANote) {
  EXPECT_THAT(races(store_rows("") + kReadRow), ElementsAre(AllOf(is_note, says("both write the same value"))));
}

TEST(RaceEffects, EqualValuesOfWarpsAreANoteAndAreReadWithoutOne) {
  EXPECT_THAT(races("mov.b32 %r3, 7; st.shared.b32 [%r2], %r3; bar.sync 0;\n"
                    "ld.shared.b32 %r8, [%r2]; st.global.b32 [%rd2], %r8;"),
              ElementsAre(AllOf(is_note, says("write after write"), says("both write the same value"))));
}

TEST(RaceEffects, ReadingBeforeAnyOfTheEqualWritesIsAFinding) {
  // Warp 3 reads without having met anybody.
  EXPECT_THAT(races("setp.ge.u32 %p1, %r1, 96; mov.b32 %r3, 7; @!%p1 st.shared.b32 [%r2], %r3;\n"
                    "@%p1 ld.shared.b32 %r8, [%r2]; @%p1 st.global.b32 [%rd2], %r8;"),
              ElementsAre(AllOf(is_note, says("write after write")), AllOf(is_finding, says("read after write"))));
}

TEST(RaceEffects, OtherValuesThatAreReadAreAFinding) {
  EXPECT_THAT(races("shr.u32 %r3, %r1, 5; st.shared.b32 [%r2], %r3;" + kReadRow),
              ElementsAre(AllOf(is_finding, says("write after write"))));
}

TEST(RaceEffects, OtherValuesThatNobodyReadsAreANote) {
  const std::string store = "shr.u32 %r3, %r1, 5; st.shared.b32 [%r2], %r3;";
  EXPECT_THAT(races(store), ElementsAre(AllOf(is_note, says("nobody reads the value"))));
  EXPECT_THAT(races(store + "bar.sync 0; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.b32 [%r2], %r1; " + kReadRow),
              ElementsAre(AllOf(is_note, says("nobody reads the value"))));
}

TEST(RaceEffects, OtherValuesInGlobalMemoryAreForTheHost) {
  EXPECT_THAT(races("shr.u32 %r3, %r1, 5; st.global.b32 [%rd1], %r3;"), ElementsAre(is_finding));
}

/// 1 in even lanes, the next number of single precision in odd ones.
const std::string kLastBit =
    "and.b32 %r3, %r1, 1; cvt.rn.f32.u32 %f1, %r3; fma.rn.f32 %f2, %f1, 0f34000000, 0f3F800000;\n";

TEST(RaceEffects, NumbersThatDifferInTheirLastBitsAreANoteThatNamesThem) {
  const auto is_it = AllOf(is_note, says("they write 1 and 1.0000001, and either may stay"));
  EXPECT_THAT(races(kLastBit + "st.shared.f32 [%r2], %f2;" + kReadRow, 32), ElementsAre(is_it));
  EXPECT_THAT(races(kLastBit + "mov.b32 %r9, %f2; st.shared.b32 [%r2], %r9;" + kReadRow, 32), ElementsAre(is_it));
  EXPECT_THAT(races(kLastBit + "st.global.f32 [%rd1], %f2;", 32), ElementsAre(is_it));
}

TEST(RaceEffects, NeighbouringIntegersAreNoSuchNumbers) {
  EXPECT_THAT(races("and.b32 %r3, %r1, 1; add.u32 %r3, %r3, 0x3f800000; st.shared.b32 [%r2], %r3;" + kReadRow, 32),
              ElementsAre(is_finding));
}

TEST(RaceEffects, ALateValueThatOnlyOneThreadStoresIsANote) {
  EXPECT_THAT(races("ld.global.b32 %r3, [%rd1]; add.u32 %r3, %r3, 1; setp.eq.u32 %p1, %r1, 0;\n"
                    "@%p1 st.global.b32 [%rd1], %r3;"),
              testing::Each(AllOf(is_note, says("does not use the value"))));
}

TEST(RaceEffects, ALateValueThatIsStoredElsewhereIsAFinding) {
  EXPECT_THAT(races("ld.global.b32 %r3, [%rd1]; add.u32 %r4, %r3, 1; setp.eq.u32 %p1, %r1, 0;\n"
                    "@%p1 st.global.b32 [%rd1], %r4; @!%p1 st.global.b32 [%rd2], %r3;"),
              testing::Contains(AllOf(is_finding, says("read after write"))));
}

TEST(RaceEffects, ALateValueThatLeadsToAnAddressIsAFinding) {
  EXPECT_THAT(races("ld.global.b32 %r3, [%rd1]; mul.wide.u32 %rd4, %r3, 4; add.s64 %rd5, %rd1, %rd4;\n"
                    "ld.global.b32 %r4, [%rd5]; add.u32 %r4, %r4, 1; setp.eq.u32 %p1, %r1, 0;\n"
                    "@%p1 st.global.b32 [%rd1], %r4;"),
              testing::Contains(AllOf(is_finding, says("read after write"))));
}

TEST(RaceEffects, ALateValueThatDecidesIsAFinding) {
  EXPECT_THAT(races("ld.global.b32 %r3, [%rd1]; setp.eq.u32 %p1, %r1, 0; mov.b32 %r4, 5;\n"
                    "@%p1 st.global.b32 [%rd1], %r4; setp.eq.u32 %p2, %r3, 0; @%p2 st.global.b32 [%rd2+512], %r4;"),
              testing::Contains(AllOf(is_finding, says("read after write"))));
}

/// Both warps load the same 32 words and sum them up; those of `stores` store what they have.
std::string sum_in_place(const std::string& stores, const std::string& after = "") {
  return "and.b32 %r3, %r1, 31; mul.wide.u32 %rd4, %r3, 4; add.s64 %rd5, %rd1, %rd4; ld.global.b32 %r4, [%rd5];\n"
         "shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; add.u32 %r6, %r4, %r5; setp.eq.u32 %p2, %r6, 7;\n"
         "selp.b32 %r7, 1, %r6, %p2;\n" +
         after + stores + " st.global.b32 [%rd5], %r7;";
}

TEST(RaceEffects, AWarpThatHasAllValuesOfAnotherAndStoresNoneIsANote) {
  EXPECT_THAT(races("setp.lt.u32 %p1, %r1, 32;" + sum_in_place("@%p1"), 64),
              testing::Each(AllOf(is_note, says("does not use the value"))));
  EXPECT_THAT(races(sum_in_place(""), 64), testing::Contains(AllOf(is_finding, says("read after write"))));
  EXPECT_THAT(races("setp.lt.u32 %p1, %r1, 33;" + sum_in_place("@%p1"), 64),
              testing::Contains(AllOf(is_finding, says("read after write"))));
  EXPECT_THAT(races("setp.lt.u32 %p1, %r1, 32;" + sum_in_place("@%p1", "@%p2 bra far; far:"), 64),
              testing::Contains(AllOf(is_finding, says("read after write"))));
}

TEST(RaceEffects, LanesThatGotTheOthersValueStoreBehindTheirLoads) {
  const std::string load =
      "shr.u32 %r3, %r1, 4; mul.wide.u32 %rd4, %r3, 4; add.s64 %rd5, %rd1, %rd4; ld.global.b32 %r4, [%rd5];";
  const std::string shuffle = "shfl.sync.idx.b32 %r5, %r4, 0, 31, -1;";
  const std::string store = "setp.eq.u32 %p1, %r1, 0; @%p1 st.global.b32 [%rd1+4], %r5;";
  EXPECT_THAT(races(load + shuffle + store, 32), testing::Each(AllOf(is_note, says("had its value before"))));
  EXPECT_THAT(races(load + "setp.eq.u32 %p1, %r1, 0; mov.b32 %r5, 1; @%p1 st.global.b32 [%rd1+4], %r5;" + shuffle +
                        "st.global.b32 [%rd2+128], %r5;",
                    32),
              testing::Contains(AllOf(is_finding, says("write after read"))));
}

TEST(RaceEffects, WhatOneLoadHasReadForAWarpMayBeStoredByOneOfItsThreads) {
  const std::string load = "ld.global.b32 %r3, [%rd1]; ";
  const std::string store = "setp.eq.u32 %p2, %r1, 0; mov.b32 %r4, 42; @%p2 st.global.b32 [%rd1], %r4;";
  const std::string branch = "setp.gt.u32 %p1, %r3, 5; @%p1 bra end; ";
  EXPECT_THAT(races(load + branch + store + "end:", 32),
              testing::Each(AllOf(is_note, says("one load of the warp had read it for both threads"))));
  EXPECT_THAT(races(load + branch + store + "end:", 32), testing::Not(IsEmpty()));
  // Of two warps, the second one reads what the first has stored.
  EXPECT_THAT(races(load + branch + store + "end:", 64), testing::Contains(is_finding));
  // The load is executed again by threads that nothing keeps together with the one that stores.
  EXPECT_THAT(races("mov.b32 %r5, 0; again: " + load + branch +
                        "setp.eq.u32 %p2, %r1, 0; @%p2 bra leave; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 2;\n"
                        "@%p2 bra again; leave: " +
                        store + "end:",
                    32),
              testing::Contains(AllOf(is_finding, says("write after read"))));
  // Each thread reads another word than the one that it stores.
  EXPECT_THAT(
      races("xor.b32 %r5, %r1, 1; mul.wide.u32 %rd4, %r5, 4; add.s64 %rd5, %rd1, %rd4; ld.global.b32 %r3, [%rd5];\n" +
                branch + "mul.wide.u32 %rd6, %r1, 4; add.s64 %rd6, %rd1, %rd6; st.global.b32 [%rd6], %r1; end:",
            32),
      testing::Contains(AllOf(is_finding, says("write after read"))));
}

/// The second block reads what the first has written, if an exchange of a flag has told it so.
std::string handed_over(const std::string& read) {
  return "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 0; mov.b32 %r4, 1;\n"
         "@%p1 st.global.b32 [%rd1], %r4; @%p1 atom.release.gpu.global.exch.b32 %r5, [%rd1+128], %r4;\n"
         "@%p1 bra end; wait: " +
         read +
         " setp.eq.u32 %p2, %r6, 0; @%p2 bra wait; ld.global.b32 %r7, [%rd1]; st.global.b32 [%rd1+256], %r7;\nend:";
}

TEST(RaceBetweenBlocks, AFlagThatIsReadRelaxedOrdersNothing) {
  EXPECT_THAT(races(handed_over("atom.acquire.gpu.global.or.b32 %r6, [%rd1+128], 0;"), 1, 2), IsEmpty());
  EXPECT_THAT(races(handed_over("atom.relaxed.gpu.global.or.b32 %r6, [%rd1+128], 0; fence.acq_rel.gpu;"), 1, 2),
              IsEmpty());
  EXPECT_THAT(races(handed_over("atom.relaxed.gpu.global.or.b32 %r6, [%rd1+128], 0;"), 1, 2),
              testing::Contains(AllOf(is_finding, says("read after write"))));
}

TEST(FindingLog, AFindingTakesThePlaceOfANoteAtItsSite) {
  FindingLog log;
  const auto add = [&log](int instruction, Severity severity) {
    log.add({Checker::race, instruction, 0, severity}, 0, 1, [] { return Finding{}; });
  };
  add(1, Severity::note);
  add(1, Severity::finding);
  add(2, Severity::note);
  const std::vector<Finding> findings = log.findings();
  EXPECT_THAT(findings, ElementsAre(is_finding, is_note));
  EXPECT_EQ(count_findings(findings), 1U);
}

}  // namespace
}  // namespace convladder::simulated
