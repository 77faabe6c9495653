#include "harness/judge/ranking/submissions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "expect_error.hpp"
#include "ladders/small_problem.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;

class SubmissionsTest : public testing::Test {
 protected:
  SubmissionsTest() : problem_(parse_problem(kSmallProblem, "problem.json")) { fs::create_directories(in()); }

  fs::path in() const { return folder_.path() / "in"; }
  fs::path copies() const { return folder_.path() / "copies"; }

  void write(const std::string& file, const std::string& text = "a source\n") const {
    fs::create_directories((in() / file).parent_path());
    std::ofstream(in() / file) << text;
  }

  Submissions read() const { return read_submissions(in(), problem_, copies()); }

  /// By family and name: "cpu/alice".
  std::map<std::string, Submission> by_name() const {
    std::map<std::string, Submission> found;
    for (const Submission& one : read().all) found[one.family + "/" + one.name] = one;
    return found;
  }

  TemporaryFolder folder_;
  LadderProblem problem_;
};

TEST_F(SubmissionsTest, AFileOrAFolderIsAPerson) {
  write("carol/solve.cpp", "carols");
  write("carol/lib/tiles.h", "tiles");
  write("carol/.git/config.h", "not hers");
  write("carol/measurements.csv", "1,2");
  write("alice.cpp");
  write("bob.cu");
  write("notes.txt");
  write(".hidden.cpp");
  const Submissions found = read();
  std::vector<std::string> names;
  for (const Submission& one : found.all) {
    names.push_back(one.family + " " + one.name + " " + one.file);
    EXPECT_EQ(one.broken, "");
    EXPECT_EQ(one.source.name, one.name);
  }
  EXPECT_THAT(names, ElementsAre("cpu alice alice.cpp", "cuda bob bob.cu", "cpu carol carol/solve.cpp"));
  EXPECT_THAT(found.left_alone, ElementsAre("notes.txt"));
  const fs::path copy = found.all[2].folder;
  EXPECT_EQ(read_file_text((copy / "solve.cpp").string()), "carols");
  EXPECT_EQ(read_file_text((copy / "lib/tiles.h").string()), "tiles");
  EXPECT_FALSE(fs::exists(copy / ".git"));
  EXPECT_FALSE(fs::exists(copy / "measurements.csv"));
}

TEST_F(SubmissionsTest, WhatTheyAreCalledComesIntoNoPath) {
  write("$(touch pwned); `id` \x1b[31m\nx.cu");
  write("'quoted' \"name\"/02_tiles.cu");
  write("\xff\xfe.cpp");
  write("\x01.cpp");
  for (const Submission& one : read().all) {
    EXPECT_EQ(one.broken, "");
    EXPECT_EQ(one.name.find_first_of("\x1b\n\x01\xff"), std::string::npos);
    const std::string path = (one.folder / one.source.file).lexically_relative(folder_.path()).string();
    EXPECT_EQ(path.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789/."), std::string::npos) << path;
  }
}

TEST_F(SubmissionsTest, NamesThatLookAlikeAreNumbered) {
  write("a\x01.cpp");
  write("a\x02.cpp");
  write("a .cpp");
  std::vector<std::string> names;
  for (const Submission& one : read().all) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("a ", "a  (2)", "a  (3)"));
}

TEST_F(SubmissionsTest, WhichSourceIsTheStage) {
  write("solve/solve.cpp");
  write("solve/helper.cpp");
  write("staged/03_last.cpp");
  write("staged/helper.cpp");
  write("only/whatever.cu");
  write("both/solve.cpp");
  write("both/solve.cu");
  write("several/a.cpp");
  write("several/b.cpp");
  write("none/readme.h");
  const auto found = by_name();
  EXPECT_EQ(found.at("cpu/solve").file, "solve/solve.cpp");
  EXPECT_EQ(found.at("cpu/staged").file, "staged/03_last.cpp");
  EXPECT_EQ(found.at("cuda/only").file, "only/whatever.cu");
  EXPECT_EQ(found.at("cpu/both").broken + found.at("cuda/both").broken, "");
  EXPECT_THAT(found.at("cpu/several").broken, HasSubstr("a.cpp and b.cpp: which of them?"));
  EXPECT_THAT(found.at("/none").broken, HasSubstr("no solve.cpp, no solve.cu"));
}

TEST_F(SubmissionsTest, TheContentIsThatOfAllSources) {
  write("a.cpp", "same");
  write("b/anything.cpp", "same");
  write("c/solve.cpp", "same");
  write("c/more.h", "1");
  const auto before = by_name();
  EXPECT_EQ(before.at("cpu/a").content, before.at("cpu/b").content);
  EXPECT_EQ(before.at("cpu/a").folder, before.at("cpu/b").folder);
  EXPECT_NE(before.at("cpu/a").content, before.at("cpu/c").content);
  write("c/more.h", "2");
  write("b/readme.txt", "not compiled");
  const auto after = by_name();
  EXPECT_NE(after.at("cpu/c").content, before.at("cpu/c").content);
  EXPECT_EQ(after.at("cpu/b").content, before.at("cpu/b").content);
}

TEST_F(SubmissionsTest, WhatIsWrongWithOneIsItsOwn) {
  write("head.cpp", "// @nonsense\n");
  write("needs.cpp", "// @requires Q == 1\n");
  fs::create_symlink("/etc/passwd", in() / "link.cpp");
  fs::create_directories(in() / "inside");
  fs::create_symlink("/etc/passwd", in() / "inside/solve.cpp");
  write("large.cpp");
  fs::resize_file(in() / "large.cpp", std::uintmax_t{1} << 40U);
  write("good.cpp");
  const auto found = by_name();
  EXPECT_THAT(found.at("cpu/head").broken, HasSubstr("@nonsense"));
  EXPECT_THAT(found.at("cpu/needs").broken, HasSubstr("@requires"));
  EXPECT_THAT(found.at("cpu/link").broken, HasSubstr("link.cpp: a link to what lies elsewhere"));
  EXPECT_THAT(found.at("/inside").broken, HasSubstr("a link to what lies elsewhere"));
  EXPECT_THAT(found.at("cpu/large").broken, HasSubstr("large.cpp: "));
  EXPECT_EQ(found.at("cpu/good").broken, "");
}

TEST_F(SubmissionsTest, AStageOfTheLadderIsWhatItMayInclude) {
  write("01_naive.cpp", "naive");
  write("02_tiles.cpp", "tiles");
  write("shared/tiles.h", "8");
  StageSource tiles;
  tiles.file = "02_tiles.cpp";
  const std::string before = content_of_stage(in(), tiles);
  write("01_naive.cpp", "another");
  write("problem.json", "{}");
  EXPECT_EQ(content_of_stage(in(), tiles), before);
  fs::rename(in(), folder_.path() / "moved");
  EXPECT_EQ(content_of_stage(folder_.path() / "moved", tiles), before);
  fs::rename(folder_.path() / "moved", in());
  write("shared/tiles.h", "16");
  EXPECT_NE(content_of_stage(in(), tiles), before);
  EXPECT_EQ(content_of_stage(in() / "missing", tiles), "");
}

TEST_F(SubmissionsTest, AFolderWithoutAnyIsRefused) {
  expect_error<UserError>([&] { static_cast<void>(read()); }, {"no submissions"});
  expect_error<UserError>([&] { static_cast<void>(read_submissions(in() / "missing", problem_, copies())); },
                          {"not a folder of submissions"});
}

}  // namespace
}  // namespace convladder
