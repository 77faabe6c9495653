#include "harness/measure/simulation/line_differences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace convladder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TEST(CommonLines, AreALongestSubsequenceOfBoth) {
  EXPECT_THAT(common_lines({"a", "b", "c"}, {"a", "b", "c"}), ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(common_lines({"a", "b", "c", "d"}, {"a", "c", "x", "d"}),
              ElementsAre(Pair(0, 0), Pair(2, 1), Pair(3, 3)));
  EXPECT_THAT(common_lines({"x", "a", "y"}, {"a", "z"}), ElementsAre(Pair(1, 0)));
  EXPECT_THAT(common_lines({}, {"a"}), ElementsAre());
  EXPECT_THAT(common_lines({"a", "a"}, {"a"}), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(common_lines({"a", "b", "a"}, {"b", "a", "b", "a"}), testing::SizeIs(3));
}

/// A kernel whose lines of scale.cu were executed so often.
KernelLines executed(const std::vector<std::pair<int, double>>& lines) {
  simulated::KernelFigures all;
  for (const auto& [line, times] : lines) {
    all.instructions.push_back({.ptx_line = line,
                                .opcode = "mov.u32",
                                .places = {{"scale.cu", line}},
                                .counters = {{"smsp__inst_executed.sum", times}}});
  }
  all.launches = 1;
  all.blocks = 1000;
  all.threads = 256;
  return kernel_lines("scale", all, *find_gpu("h100"));
}

TEST(LineDifferences, AreNoneOfAKernelAndItself) {
  EXPECT_TRUE(line_differences_json(executed({{1, 8}}), executed({{1, 8}})).empty());
}

TEST(LineDifferences, TellALineThatOneLacksFromOneThatCostsMore) {
  const KernelLines one = executed({{1, 8}});
  const KernelLines other = executed({{1, 9}, {5, 2}});
  const nlohmann::ordered_json pairs = line_differences_json(one, other);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_TRUE(std::ranges::any_of(pairs, [](const auto& pair) { return pair["first"].is_null(); }));
  Report report;
  add_line_differences(report, {"A", one}, {"B", other});
  const std::string text = as_text(report);
  EXPECT_THAT(text, HasSubstr("lines that differ from A to B: 2 of 2"));
  EXPECT_THAT(text, HasSubstr("8 -> 9"));
  EXPECT_THAT(text, HasSubstr("+ 5"));
  EXPECT_THAT(text, Not(HasSubstr("- 1")));
}

}  // namespace
}  // namespace convladder
