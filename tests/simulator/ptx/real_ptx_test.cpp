// PTX that others' compilers made. It is no part of this project: CONVLADDER_REAL_PTX names a folder of .ptx files, and
// without it the test is skipped.
//
//   CONVLADDER_REAL_PTX=FOLDER build/release/tests/convladder_simulator_test --gtest_filter='RealPtx.*'
//
// prints which kernels are refused, and for what.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "simulator/instructions/decoder.hpp"
#include "simulator/ptx/parser.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {
namespace {

std::vector<std::filesystem::path> ptx_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// What kernels are refused for, and in how many kernels and files.
class RefusalTable {
 public:
  void add(const std::string& file, const std::string& kernel, const std::vector<ptx::Refusal>& refusals) {
    for (const ptx::Refusal& refusal : refusals) {
      Row& row = rows_[refusal.what];
      row.kernels.insert(file + ':' + kernel);
      row.files.insert(file);
      if (row.example.empty()) row.example = fmt::format("{}:{}", file, refusal.position.line);
    }
  }
  std::string text() const {
    std::vector<std::pair<std::string, Row>> sorted(rows_.begin(), rows_.end());
    std::ranges::stable_sort(sorted, std::greater<>(), [](const auto& row) { return row.second.kernels.size(); });
    std::string text = "kernels files  refused for\n";
    for (const auto& [what, row] : sorted) {
      text += fmt::format("{:>7} {:>5}  {}  ({})\n", row.kernels.size(), row.files.size(), what, row.example);
    }
    return text;
  }

 private:
  struct Row {
    std::set<std::string> kernels;
    std::set<std::string> files;
    std::string example;
  };
  std::map<std::string, Row> rows_;
};

TEST(RealPtx, EveryFileLoadsAndNearlyEveryKernelDecodes) {
  const char* const folder = std::getenv("CONVLADDER_REAL_PTX");
  if (folder == nullptr) GTEST_SKIP() << "CONVLADDER_REAL_PTX names no folder of PTX files";
  int files = 0;
  int kernels = 0;
  int decoded = 0;
  RefusalTable table;
  for (const std::filesystem::path& file : ptx_files(folder)) {
    ++files;
    const std::string text = content_of(file);
    try {
      const ptx::Module module = ptx::parse_module(text, file.filename().string());
      for (const ptx::Kernel& kernel : module.kernels) {
        ++kernels;
        const std::vector<ptx::Refusal> all = refusals(module, kernel);
        decoded += all.empty() ? 1 : 0;
        table.add(module.file, kernel.name, all);
        for (const ptx::Refusal& refusal : all) {
          EXPECT_GT(refusal.position.line, 0) << module.file << ": " << kernel.name << ": " << refusal.what;
        }
      }
    } catch (const ptx::PtxError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  fmt::print("{} files, {} kernels, {} decode\n{}", files, kernels, decoded, table.text());
  EXPECT_GE(files, 60);
  EXPECT_GE(decoded, 0.95 * kernels);
}

}  // namespace
}  // namespace convladder::simulated
