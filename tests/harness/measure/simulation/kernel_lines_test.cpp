#include "harness/measure/simulation/kernel_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace convladder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

using Texts = std::vector<std::string>;

TEST(CommonLines, AreALongestSubsequenceOfBoth) {
  EXPECT_THAT(common_lines({"a", "b", "c"}, {"a", "b", "c"}), ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(common_lines({"a", "b", "c", "d"}, {"a", "c", "x", "d"}),
              ElementsAre(Pair(0, 0), Pair(2, 1), Pair(3, 3)));
  EXPECT_THAT(common_lines({"x", "a", "y"}, {"a", "z"}), ElementsAre(Pair(1, 0)));
  EXPECT_THAT(common_lines({}, {"a"}), ElementsAre());
  EXPECT_THAT(common_lines({"a", "a"}, {"a"}), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(common_lines({"a", "b", "a"}, {"b", "a", "b", "a"}), testing::SizeIs(3));
}

constexpr const char* kExecuted = "smsp__inst_executed.sum";
constexpr const char* kLanes = "smsp__thread_inst_executed_pred_on.sum";
constexpr const char* kLoads = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";

simulated::InstructionFigures instruction(int line, std::map<std::string, double> counters,
                                          std::vector<simulated::SourcePlace> callers = {}) {
  std::vector<simulated::SourcePlace> places;
  if (line > 0) places.push_back({"scale.cu", line});
  places.insert(places.end(), callers.begin(), callers.end());
  return {.ptx_line = 10 + line, .opcode = "mov.u32", .places = std::move(places), .counters = std::move(counters)};
}

simulated::KernelFigures figures(std::vector<simulated::InstructionFigures> instructions) {
  simulated::KernelFigures all;
  all.instructions = std::move(instructions);
  all.launches = 1;
  all.blocks = 1000;
  all.threads = 256;
  return all;
}

std::string text(const Report& report) { return as_text(report); }

TEST(KernelLines, SumUpTheInstructionsOfALine) {
  const KernelLines lines = kernel_lines(
      "scale",
      figures({instruction(3, {{kExecuted, 8}, {kLanes, 256}}), instruction(2, {{kExecuted, 8}}),
               instruction(3, {{kExecuted, 8}, {kLoads, 8}, {kSectors, 256}}), instruction(0, {{kExecuted, 1}})}),
      *find_gpu("h100"));
  ASSERT_EQ(lines.lines.size(), 3U);
  EXPECT_EQ(lines.lines[0].place(), "no line");
  EXPECT_EQ(lines.lines[2].place(), "scale.cu:3");
  EXPECT_EQ(lines.lines[2].instructions, 2);
  EXPECT_EQ(lines.lines[2].counter(kExecuted), 16);
  EXPECT_EQ(lines.sum(kExecuted), 25);
  EXPECT_FALSE(lines.bound_by.empty());
  double shares = 0;
  for (const KernelLine& line : lines.lines) shares += line.share;
  EXPECT_NEAR(shares, 1, 1e-12);
  Report report;
  add_lines(report, lines);
  EXPECT_THAT(text(report), HasSubstr("lines of scale"));
  EXPECT_THAT(text(report), HasSubstr("no line"));
}

TEST(KernelLines, OfALaunchThatDidNothingHaveNoShare) {
  const KernelLines lines = kernel_lines("scale", figures({instruction(1, {})}), *find_gpu("h100"));
  ASSERT_EQ(lines.lines.size(), 1U);
  EXPECT_EQ(lines.lines[0].share, 0);
}

TEST(KernelLines, ThatAreTheSameDoNotDiffer) {
  const auto gpu = *find_gpu("h100");
  const KernelLines one = kernel_lines("scale", figures({instruction(1, {{kExecuted, 8}})}), gpu);
  EXPECT_TRUE(line_differences_json(one, one).empty());
  const KernelLines other =
      kernel_lines("scale", figures({instruction(1, {{kExecuted, 9}}), instruction(5, {{kExecuted, 2}})}), gpu);
  const nlohmann::ordered_json pairs = line_differences_json(one, other);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_TRUE(std::ranges::any_of(pairs, [](const auto& pair) { return pair["first"].is_null(); }));
  Report report;
  add_line_differences(report, {"A", one}, {"B", other});
  EXPECT_THAT(text(report), HasSubstr("lines that differ from A to B: 2 of 2"));
  EXPECT_THAT(text(report), HasSubstr("8 -> 9"));
  EXPECT_THAT(text(report), HasSubstr("+ 5"));
  EXPECT_THAT(text(report), Not(HasSubstr("- 1")));
}

TEST(KernelFigures, LeaveOutOtherKernelsOfTheirName) {
  simulated::KernelFigures all = figures({instruction(1, {{kExecuted, 8}})});
  simulated::KernelFigures same = all;
  all.add(same);
  EXPECT_EQ(all.instructions[0].counters[kExecuted], 16);
  EXPECT_EQ(all.launches, 2U);
  same.instructions[0].opcode = "add.u32";
  all.add(same);
  EXPECT_EQ(all.instructions[0].counters[kExecuted], 16);
  EXPECT_EQ(all.left_out, 1U);
}

}  // namespace
}  // namespace convladder
