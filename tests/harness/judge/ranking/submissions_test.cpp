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
  EXPECT_THAT(found.at("cpu/link").broken, HasSubstr("link.cpp: a link to a file outside of the folder"));
  EXPECT_THAT(found.at("/inside").broken, HasSubstr("solve.cpp: a link to a file outside of the folder"));
  EXPECT_THAT(found.at("cpu/large").broken, HasSubstr("large.cpp: "));
  EXPECT_EQ(found.at("cpu/good").broken, "");
}

TEST_F(SubmissionsTest, LinksWithinASubmissionAreFollowed) {
  write("alice/solve.cpp", "hers");
  write("alice/src/tiles.h", "8");
  fs::create_symlink("src", in() / "alice/lib");
  fs::create_symlink("src/tiles.h", in() / "alice/tiles.h");
  fs::create_symlink("alice", in() / "bob");
  const auto found = by_name();
  EXPECT_EQ(found.at("cpu/alice").broken, "");
  EXPECT_EQ(found.at("cpu/bob").content, found.at("cpu/alice").content);
  for (const char* const name : {"solve.cpp", "src/tiles.h", "lib/tiles.h", "tiles.h"}) {
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(found.at("cpu/alice").folder / name))) << name;
  }
}

TEST_F(SubmissionsTest, LinksOutOfASubmissionAreItsOwnMistake) {
  write("good.cpp");
  write("alice/solve.cpp");
  const auto broken_by = [&](const fs::path& target, const fs::path& link) {
    fs::create_directories((in() / link).parent_path());
    fs::create_symlink(target, in() / link);
    const auto found = by_name();
    fs::remove(in() / link);
    EXPECT_EQ(found.at("cpu/good").broken, "");
    const auto at = found.find("/" + link.begin()->string());
    return at == found.end() ? std::string("no such submission") : at->second.broken;
  };
  EXPECT_EQ(broken_by("/etc", "alice/lib"), "lib: a link to a folder outside of the folder");
  EXPECT_EQ(broken_by("../../good.cpp", "alice/deep/other.h"), "other.h: a link to a file outside of the folder");
  EXPECT_EQ(broken_by("../bob", "alice/lib"), "lib: a link that leads nowhere");
  EXPECT_EQ(broken_by("/dev/zero", "alice/zero.dat"), "zero.dat: a link to a file outside of the folder");
  EXPECT_EQ(broken_by("/proc/self/root", "alice/lib"), "lib: a link to a folder outside of the folder");
  EXPECT_EQ(broken_by("lib", "alice/lib"), "lib: a link that leads in a circle");
  EXPECT_EQ(broken_by(".", "alice/lib"), "lib: a link to a folder that holds it");
  EXPECT_EQ(broken_by("/etc", "eve"), "eve: a link to a folder outside of the folder");
  EXPECT_EQ(broken_by(".", "eve"), "eve: a link to a folder that holds it");
  fs::create_directories(in() / "alice/p");
  fs::create_directories(in() / "alice/q");
  fs::create_symlink("../p", in() / "alice/q/back");
  EXPECT_THAT(broken_by("../q", "alice/p/on"), HasSubstr(": a link to a folder that holds it"));
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
