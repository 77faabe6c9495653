#include "harness/measure/runs/cited_lines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace convladder {
namespace {

constexpr const char* kLoads = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kStores = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
constexpr const char* kAtomics = "smsp__inst_executed_op_global_atom.sum";

CountedLine loads(const std::string& file, int line, const std::string& source, double requests, double sectors) {
  return {file, line, source, {{kLoads, requests}, {kSectors, sectors}}};
}

/// The counters of such lines, and of code that no line is kept of.
CaseCounters counted(std::vector<CountedLine> lines, double other_sectors = 0) {
  CaseCounters counters;
  double sectors = other_sectors;
  double atomics = 0;
  for (const CountedLine& one : lines) {
    if (one.counters.contains(kSectors)) sectors += one.counters.at(kSectors);
    if (one.counters.contains(kAtomics)) atomics += one.counters.at(kAtomics);
  }
  counters.totals = {{kSectors, sectors}, {kAtomics, atomics}};
  counters.lines = std::move(lines);
  return counters;
}

std::string sectors(const CaseCounters& below, const CaseCounters& above) {
  return cited_lines("load sectors", {&kSectors, 1}, below, above);
}

TEST(CitedLines, AreThoseOfBothWhereverTheyStand) {
  const CaseCounters before = counted({loads("a.cu", 4, "x = in[i];", 10, 40), loads("a.cu", 7, "y = in[j];", 10, 40)});
  const CaseCounters after =
      counted({loads("a.cu", 9, "x = in[i];", 10, 320), loads("a.cu", 12, "y = in[j];", 10, 50)});
  EXPECT_EQ(sectors(before, after), "line 9 of a.cu: load sectors 4 -> 32 a load");
  EXPECT_EQ(sectors(after, before), "line 4 of a.cu: load sectors 32 -> 4 a load");
}

TEST(CitedLines, TellASumWhereTheRateIsTheSame) {
  EXPECT_EQ(sectors(counted({loads("a.cu", 4, "x = in[i];", 1000, 4000)}),
                    counted({loads("a.cu", 4, "x = in[i];", 2000, 8000)})),
            "line 4 of a.cu: load sectors 4,000 -> 8,000");
}

TEST(CitedLines, OfTheSameTextAreTakenInTheirOrder) {
  const std::string text = "sum += in[i];";
  const CaseCounters before = counted({loads("a.cu", 4, text, 10, 10), loads("a.cu", 6, text, 10, 40)});
  const CaseCounters after = counted({loads("a.cu", 5, text, 10, 10), loads("a.cu", 8, text, 10, 320)});
  EXPECT_EQ(sectors(before, after), "line 8 of a.cu: load sectors 4 -> 32 a load");
}

TEST(CitedLines, OfTwoStagesAreTheLargestOfEach) {
  const CaseCounters naive = counted({loads("naive.cu", 31, "x", 100, 800)}, 200);
  const CaseCounters tiles = counted({loads("tiles.cu", 44, "y", 10, 40)});
  EXPECT_EQ(sectors(naive, tiles), "load sectors: naive.cu:31 (80%, 8 a load) -> tiles.cu:44 (100%, 4 a load)");
}

TEST(CitedLines, OfAStageWithoutSuchACounterAreLeftOut) {
  const CaseCounters without = counted({loads("a.cu", 1, "x", 1, 1)});
  const CaseCounters with = counted({{"b.cu", 2, "atomicAdd(s, x);", {{kAtomics, 64}}}});
  EXPECT_EQ(cited_lines("atomics", {&kAtomics, 1}, without, with), "atomics: none -> b.cu:2 (100%)");
  EXPECT_EQ(cited_lines("atomics", {&kAtomics, 1}, with, without), "atomics: b.cu:2 (100%) -> none");
}

TEST(CitedLines, AreNoneWhereNothingIsKnownOrNothingStandsOut) {
  const CaseCounters line = counted({loads("a.cu", 1, "x", 10, 40)});
  EXPECT_EQ(sectors(line, counted({}, 100)), "");
  EXPECT_EQ(sectors(counted({}, 100), line), "");
  EXPECT_EQ(sectors(line, line), "");
  EXPECT_EQ(cited_lines("stores", {&kStores, 1}, line, line), "");
  const CaseCounters spread = counted({loads("b.cu", 1, "x", 10, 10)}, 90);
  EXPECT_EQ(sectors(spread, counted({loads("c.cu", 1, "y", 10, 20)}, 180)), "");
  EXPECT_EQ(sectors(spread, counted({loads("c.cu", 1, "y", 10, 20)})),
            "load sectors: several lines -> c.cu:1 (100%, 2 a load)");
  const CaseCounters nowhere = counted({loads("", 0, "", 10, 40)});
  EXPECT_EQ(sectors(nowhere, counted({loads("", 0, "", 10, 80)})), "");
}

}  // namespace
}  // namespace convladder
