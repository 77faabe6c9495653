#include "harness/measure/simulation/kernel_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace convladder {
namespace {

using testing::HasSubstr;

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
  EXPECT_EQ(lines.lines[2].executed(), 16);
  EXPECT_EQ(lines.executed(), 25);
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
