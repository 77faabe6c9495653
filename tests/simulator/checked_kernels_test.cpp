// The checkers on kernels as people write them (tests/checked_kernels/*.cu): nothing but notes is found in right ones,
// and faults that do not show are found, with both lines of a race.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "devices/kernel_resources.hpp"
#include "simulator/device/simulated_device.hpp"
#include "simulator/ptx/parser.hpp"

namespace convladder::simulated {
namespace {

constexpr int kValues = 512;

/// What a mark says: "racecheck" or "note", and its line.
using Marks = std::set<std::pair<std::string, int>>;

struct MarkedKernel {
  std::string file;
  std::string name;
  Marks marks;
};

std::ostream& operator<<(std::ostream& stream, const MarkedKernel& kernel) { return stream << kernel.name; }

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void read_marked_kernels(const std::filesystem::path& path, std::vector<MarkedKernel>& kernels) {
  std::istringstream source(text_of_file(path));
  const std::regex kernel(R"(__global__ void (?:__cluster_dims__\(\d\) )?(\w+)\()");
  std::string line;
  for (int number = 1; std::getline(source, line); ++number) {
    std::smatch match;
    if (std::regex_search(line, match, kernel)) kernels.push_back({path.stem(), match[1], {}});
    const std::size_t mark = line.find("// <- ");
    if (mark == std::string::npos) continue;
    std::istringstream words(line.substr(mark + 6));
    for (std::string word; words >> word;) kernels.back().marks.emplace(word, number);
  }
}

/// The kernels of right.cu, or of lucky.cu, and of the files that are called so with more behind it: right_….cu.
std::vector<MarkedKernel> marked_kernels(const std::string& files) {
  std::vector<MarkedKernel> kernels;
  std::set<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(CONVLADDER_SOURCE_DIR) / "tests/checked_kernels")) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() == ".cu" && path.filename().string().starts_with(files)) paths.insert(path);
  }
  for (const std::filesystem::path& path : paths) read_marked_kernels(path, kernels);
  return kernels;
}

/// What all checkers find in a launch of the kernel; none without PTX.
std::optional<std::vector<Finding>> findings_of(const MarkedKernel& marked) {
  const std::filesystem::path file = std::filesystem::path(CONVLADDER_CHECKED_PTX) / (marked.file + ".ptx");
  if (!std::filesystem::exists(file)) return std::nullopt;
  static std::map<std::string, ptx::Module> modules;
  const auto [known, is_new] = modules.try_emplace(marked.file);
  if (is_new) known->second = ptx::parse_module(text_of_file(file), file.filename());
  const ptx::Module& module = known->second;
  const auto is_it = [&](const ptx::Kernel& kernel) { return display_name(kernel.name) == marked.name; };
  const auto kernel = std::ranges::find_if(module.kernels, is_it);
  if (kernel == module.kernels.end()) throw std::out_of_range("no kernel " + marked.name);

  SimulatedDeviceOptions options;
  options.checkers = CheckerSet::all();
  options.host_threads = 1;
  SimulatedDevice device(options);
  device.set_counting(false);
  std::vector<float> values(kValues);
  for (int i = 0; i < kValues; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i % 5);
  const std::size_t bytes = kValues * sizeof(float);
  DeviceBuffer in = device.allocate(bytes, "in");
  DeviceBuffer out = device.allocate(bytes, "out");
  device.copy_to_device(in.address(), values.data(), bytes);
  if (marked.file == "lucky") device.copy_to_device(out.address(), std::vector<float>(kValues).data(), bytes);
  KernelLaunch launch;
  launch.kernel = device.load(module, *kernel);
  launch.grid = {4};
  launch.block = {128};
  launch.cooperative = marked.name.starts_with("grid_");
  const auto pass = [&launch](auto value) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    launch.arguments.emplace_back(first, first + sizeof value);
  };
  pass(in.address());
  pass(out.address());
  pass(kValues);
  device.launch(launch);
  return device.take_findings();
}

std::string name_of_kernel(const testing::TestParamInfo<MarkedKernel>& info) { return info.param.name; }

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
