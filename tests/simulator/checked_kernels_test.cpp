// The checkers on kernels as people write them (tests/checked_kernels/*.cu): nothing but notes is found in right ones,
// and faults that do not show are found, with both lines of a race.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "simulator/device/simulated_device.hpp"
#include "simulator/marked_kernels.hpp"

namespace convladder::simulated {
namespace {

/// What all checkers find in a launch of the kernel; none without PTX.
std::optional<std::vector<Finding>> findings_of(const MarkedKernel& marked) {
  SimulatedDeviceOptions options;
  options.checkers = CheckerSet::all();
  options.host_threads = 1;
  SimulatedDevice device(options);
  if (!run_marked(device, marked)) return std::nullopt;
  return device.take_findings();
}

class RightKernel : public testing::TestWithParam<MarkedKernel> {};

TEST_P(RightKernel, HasNoFindings) {
  const auto findings = findings_of(GetParam());
  if (!findings) GTEST_SKIP() << "no nvcc in this build";
  std::set<int> noted;
  for (const Finding& finding : *findings) {
    EXPECT_EQ(finding.severity, Severity::note) << to_text(finding);
    EXPECT_TRUE(GetParam().marks.contains({"note", finding.source_line})) << to_text(finding);
    noted.insert(finding.source_line);
  }
  const bool is_marked = !GetParam().marks.empty();
  EXPECT_EQ(is_marked, !noted.empty()) << "the marked note";
}

INSTANTIATE_TEST_SUITE_P(Kernels, RightKernel, testing::ValuesIn(marked_kernels("right")), name_of_kernel);

class LuckyKernel : public testing::TestWithParam<MarkedKernel> {};

TEST_P(LuckyKernel, IsFoundWithBothItsLines) {
  const auto findings = findings_of(GetParam());
  if (!findings) GTEST_SKIP() << "no nvcc in this build";
  const Marks& marks = GetParam().marks;
  const std::regex line(R"(at line (\d+))");
  std::set<std::string> found;
  for (const Finding& finding : *findings) {
    const bool is_note = finding.severity == Severity::note;
    const std::string checker(is_note ? "note" : checker_name(finding.checker));
    EXPECT_TRUE(marks.contains({checker, finding.source_line})) << to_text(finding);
    found.insert(checker);
    if (finding.checker != Checker::race) continue;
    std::smatch other;
    ASSERT_TRUE(std::regex_search(finding.problem, other, line)) << to_text(finding);
    EXPECT_TRUE(marks.contains({checker, std::stoi(other[1])})) << to_text(finding);
  }
  EXPECT_FALSE(found.empty() || found == std::set<std::string>{"note"}) << "the fault itself";
}

INSTANTIATE_TEST_SUITE_P(Kernels, LuckyKernel, testing::ValuesIn(marked_kernels("lucky")), name_of_kernel);

TEST(CheckedKernels, AreManyAndFaultyOnesAreMarked) {
  EXPECT_GE(marked_kernels("right").size(), 60U);
  EXPECT_GE(marked_kernels("lucky").size(), 26U);
  for (const MarkedKernel& kernel : marked_kernels("lucky")) EXPECT_FALSE(kernel.marks.empty()) << kernel.name;
}

}  // namespace
}  // namespace convladder::simulated
