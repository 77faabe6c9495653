// scripts/fetch_datasets.sh, with files at hand: nothing here needs a network.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/catalogue.hpp"
#include "datasets/idx_reader.hpp"
#include "tests/datasets/idx_test_files.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;
using namespace testing_files;

struct Outcome {
  int exit_code = -1;
  std::string output;  ///< standard output and error together
};

Outcome fetch(const std::string& arguments) {
  const std::string command = fmt::format("'{}/scripts/fetch_datasets.sh' {} 2>&1", CONVLADDER_SOURCE_DIR, arguments);
  std::FILE* pipe = popen(command.c_str(), "r");
  Outcome outcome;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) outcome.output += buffer.data();
  outcome.exit_code = WEXITSTATUS(pclose(pipe));
  return outcome;
}

std::string quoted(const fs::path& path) { return fmt::format("'{}'", path.string()); }

void expect_one_line_failure(const Outcome& outcome, const std::string& part) {
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
  EXPECT_NE(outcome.output.find(part), std::string::npos) << outcome.output;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  if (!fs::exists(folder)) return names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// A copy of MNIST that can be damaged.
void copy_mnist(const fs::path& to) {
  fs::create_directories(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(*real_datasets() / "mnist")) {
    const fs::path copy = to / entry.path().filename();
    fs::copy_file(entry.path(), copy);
    fs::permissions(copy, fs::perms::owner_read | fs::perms::owner_write);
  }
}

TEST(FetchDatasets, ExplainsItself) {
  const Outcome help = fetch("--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.output.find("--from DIR"), std::string::npos);
  expect_one_line_failure(fetch("--unknown"), "unknown argument '--unknown'");
  expect_one_line_failure(fetch("--from"), "--from needs a folder");
}

TEST(FetchDatasets, RefusesAFolderWithoutKnownFiles) {
  const TestFolder folder;
  const std::string cache = " --cache " + quoted(folder.path() / "cache");
  expect_one_line_failure(fetch("--from " + quoted(folder.path() / "none") + cache), "no such folder");
  expect_one_line_failure(fetch("--from " + quoted(folder.path()) + cache), "no file of MNIST or Fashion-MNIST");
  folder.write("train-images-idx3-ubyte.gz", gzip(small_images(5)));
  expect_one_line_failure(fetch("--from " + quoted(folder.path()) + cache), "no file of MNIST or Fashion-MNIST");
  for (const std::string set : {"mnist", "fashion-mnist"}) {
    expect_one_line_failure(fetch(fmt::format("--from {}{} {}", quoted(folder.path()), cache, set)),
                            "train-images-idx3-ubyte.gz: not " + set + "'s");
    EXPECT_EQ(names_in(folder.path() / "cache" / set), std::vector<std::string>());
  }
}

TEST(FetchDatasets, FillsACacheThatIsThenFound) {
  SKIP_WITHOUT_REAL_DATASETS();
  const TestFolder folder;
  const std::string arguments = "--from " + quoted(*real_datasets() / "mnist") + " --cache " + quoted(folder.path());
  EXPECT_EQ(fetch(arguments).exit_code, 0);
  EXPECT_EQ(names_in(folder.path() / "mnist"),
            (std::vector<std::string>{"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz",
                                      "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"}));
  EXPECT_EQ(find_cached_folder(folder.path()), folder.path() / "mnist");
  EXPECT_EQ(load_image_folder(folder.path() / "mnist").name, "MNIST test");
  const Outcome again = fetch(arguments);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.output.find("already there"), std::string::npos);
}

TEST(FetchDatasets, LeavesNothingOfADamagedFileAndGoesOnFromThere) {
  SKIP_WITHOUT_REAL_DATASETS();
  const TestFolder folder;
  copy_mnist(folder.path() / "from/mnist");
  const fs::path damaged = folder.path() / "from/mnist/t10k-labels-idx1-ubyte.gz";
  Bytes content = read_data_file(damaged);
  content[2000] ^= 4;
  folder.write("from/mnist/t10k-labels-idx1-ubyte.gz", content);
  const std::string arguments =
      "--from " + quoted(folder.path() / "from") + " --cache " + quoted(folder.path() / "cache");
  const Outcome outcome = fetch(arguments);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find(damaged.string() + ": not mnist's t10k-labels-idx1-ubyte"), std::string::npos);
  EXPECT_EQ(names_in(folder.path() / "cache/mnist").size(), 3U);

  // The labels unpacked are as good.
  fs::remove(damaged);
  const IdxLabels labels = read_idx_labels(*real_datasets() / "mnist/t10k-labels-idx1-ubyte.gz");
  folder.write("from/mnist/t10k-labels-idx1-ubyte", idx_file({0x801, 10000}, labels.labels));
  EXPECT_EQ(fetch(arguments).exit_code, 0);
  EXPECT_EQ(load_image_folder(folder.path() / "cache/mnist").name, "MNIST test");
}

TEST(FetchDatasets, ReplacesADamagedFileInTheCache) {
  SKIP_WITHOUT_REAL_DATASETS();
  const TestFolder folder;
  folder.write("mnist/t10k-labels-idx1-ubyte.gz", {1, 2, 3});
  const Outcome outcome =
      fetch("--from " + quoted(*real_datasets() / "mnist") + " --cache " + quoted(folder.path()) + " mnist");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(load_image_folder(folder.path() / "mnist").name, "MNIST test");
}

}  // namespace
}  // namespace convladder
