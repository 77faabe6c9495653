#include "harness/measure/cases/counted_lines.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

TEST(CountedLines, AreThoseThatHoldMuchOfACounter) {
  std::vector<LineCounters> all = {{"/src/b.cu", 3, 1, {{"loads", 96.0}}},
                                   {"/src/a.cu", 9, 1, {{"loads", 4.0}}},
                                   {"/src/a.cu", 7, 1, {{"loads", 4.0}, {"barriers", 1.0}}}};
  const std::vector<CountedLine> lines = counted_lines(std::move(all));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].line, 7);  // it has all of the barriers
  EXPECT_EQ(lines[0].counters.at("loads"), 4);
  EXPECT_EQ(lines[1].line, 3);
}

class Sources : public testing::Test {
 protected:
  Sources() {
    fs::create_directories(folder_.path() / "ladder");
    fs::create_directories(folder_.path() / "ladder_of_others");
    for (const char* const file : {"ladder/stage.cu", "secret.txt", "ladder_of_others/other.cu"}) {
      std::ofstream(folder_.path() / file) << "first\n  " << std::string(200, 'x') << "\n\tthird \x1b[31m\n";
    }
    fs::create_symlink(folder_.path() / "secret.txt", folder_.path() / "ladder/link.cu");
  }

  std::string text(const std::string& file, int line, const std::optional<fs::path>& folder) const {
    std::vector<CountedLine> lines = {{folder_.path() / file, line, {}, {}}};
    read_sources(lines, folder);
    EXPECT_EQ(lines[0].file, fs::path(file).filename().string());
    return lines[0].source;
  }

  TemporaryFolder folder_;
};

TEST_F(Sources, AreReadFromTheFolderOnly) {
  const fs::path ladder = folder_.path() / "ladder";
  EXPECT_EQ(text("ladder/stage.cu", 1, ladder), "first");
  EXPECT_EQ(text("ladder/../ladder/stage.cu", 1, ladder), "first");
  for (const char* const file : {"secret.txt", "ladder/../secret.txt", "ladder/link.cu", "ladder_of_others/other.cu"}) {
    EXPECT_EQ(text(file, 1, ladder), "") << file;
    EXPECT_EQ(text(file, 1, fs::path()), "") << file;  // nobody knows the stage's folder
    EXPECT_EQ(text(file, 1, std::nullopt), "first") << file;
  }
}

TEST_F(Sources, AreCutAndHoldNoControlCharacters) {
  EXPECT_EQ(text("ladder/stage.cu", 2, std::nullopt), std::string(117, 'x') + "...");
  EXPECT_EQ(text("ladder/stage.cu", 3, std::nullopt).find('\x1b'), std::string::npos);
  EXPECT_EQ(text("ladder/stage.cu", 0, std::nullopt), "");
  EXPECT_EQ(text("ladder/stage.cu", 4, std::nullopt), "");
  EXPECT_EQ(text("ladder/none.cu", 1, std::nullopt), "");
}

}  // namespace
}  // namespace convladder
