#include "ladders/ladder_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "ladders/small_problem.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

using testing::HasSubstr;
using testing::Not;

class LadderFolderTest : public testing::Test {
 protected:
  LadderFolderTest()
      : path_(testing::TempDir() + "ladder_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    write("problem.json", kSmallProblem);
    write("reference.py", "def reference(x, N): return x\n");
    write("01_naive.cu", "// @title One thread an element\n");
  }
  ~LadderFolderTest() override { std::filesystem::remove_all(path_); }

  void write(const std::string& file, const std::string& text) const { std::ofstream(path_ / file) << text; }
  std::string error() const {
    try {
      static_cast<void>(read_ladder_folder(path_));
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  std::filesystem::path path_;
};

TEST_F(LadderFolderTest, StagesClimbInTheOrderOfTheirRungs) {
  write(
      "10_last.cu",
      "// @builds-on 02_tiles\n// @hypothesis fewer loads\n// @parameter TILE 8 16\n//\n// The description,\n// in two "
      "lines.\nint main;");
  write("02_tiles.cu", "/* @title Tiles\n * of shared memory\n */\n\n// not of the head any more: @nonsense");
  write("03_tiles.cpp", "");
  write("library_cublas.cu", "");
  write("notes.txt", "mine");
  write("helper.cu", "mine as well");
  const LadderFolder folder = read_ladder_folder(path_);
  std::vector<std::string> names;
  for (const StageSource& stage : folder.stages) names.push_back(stage.file);
  EXPECT_THAT(names,
              testing::ElementsAre("03_tiles.cpp", "01_naive.cu", "02_tiles.cu", "10_last.cu", "library_cublas.cu"));
  EXPECT_EQ(folder.reference, "reference.py");
  EXPECT_EQ(folder.stages[1].title, "One thread an element");
  EXPECT_EQ(folder.stages[2].title, "Tiles");
  EXPECT_EQ(folder.stages[2].description, "of shared memory");
  const StageSource& last = folder.stages[3];
  EXPECT_EQ(last.rung, 10);
  EXPECT_EQ(last.title, "last");
  EXPECT_EQ(last.builds_on, "tiles");
  EXPECT_EQ(last.hypothesis, "fewer loads");
  ASSERT_EQ(last.parameters.size(), 1U);
  EXPECT_THAT(last.parameters[0].values, testing::ElementsAre(8, 16));
  EXPECT_EQ(last.description, "The description,\nin two lines.");
}

TEST_F(LadderFolderTest, WhatIsMissingOrTwiceIsNamed) {
  EXPECT_EQ(error(), "no error");
  write("reference.cpp", "");
  EXPECT_THAT(error(), HasSubstr("which of them?"));
  std::filesystem::remove(path_ / "reference.cpp");
  write("1_other.cu", "");
  EXPECT_THAT(error(), HasSubstr("01_naive.cu and 1_other.cu have the same rung"));
  std::filesystem::rename(path_ / "1_other.cu", path_ / "02_naive.cu");
  EXPECT_THAT(error(), HasSubstr("01_naive.cu and 02_naive.cu have the same name"));
  std::filesystem::remove(path_ / "02_naive.cu");
  std::filesystem::remove(path_ / "reference.py");
  EXPECT_THAT(error(), HasSubstr("no reference: expected reference.cpp or reference.py"));
  std::filesystem::remove(path_ / "01_naive.cu");
  write("reference.py", "");
  EXPECT_THAT(error(), HasSubstr("no stages"));
  EXPECT_TRUE(read_ladder_folder(path_, OwnStages::optional).stages.empty());
  std::filesystem::remove(path_ / "problem.json");
  EXPECT_THAT(error(), HasSubstr("no problem.json"));
}

TEST_F(LadderFolderTest, HeadsAreReadStrictly) {
  const std::map<std::string, std::string> wrong{
      {"// @tile x", "02_bad.cu:1: unknown word '@tile'; known: @title"},
      {"//\n// @title", "02_bad.cu:2: @title says nothing"},
      {"// @title a\n// @title b", "02_bad.cu:2: @title stands there twice"},
      {"// @parameter", "02_bad.cu:1: @parameter: expected a name"},
      {"// @parameter TILE", "02_bad.cu:1: @parameter TILE has no values"},
      {"// @parameter TILE 8 x", "02_bad.cu:1: @parameter TILE: expected whole numbers, found \"x\""},
      {"// @target", "02_bad.cu:1: @target: expected an architecture such as sm_90a, found \"\""},
      {"// @target compute_90", "02_bad.cu:1: @target: expected an architecture"},
      {"// @target sm_90\n// @target sm_90", "02_bad.cu:2: @target stands there twice"},
      {"// @builds-on nothing", "@builds-on: unknown stage 'nothing'; known: naive"},
      {"// @builds-on bad", "@builds-on: unknown stage 'bad'; known: naive"}};
  for (const auto& [text, message] : wrong) {
    write("02_bad.cu", text);
    EXPECT_THAT(error(), HasSubstr(message)) << text;
  }
}

TEST_F(LadderFolderTest, WhatIsMeantAsAStageIsNotLeftOut) {
  for (const char* const name :
       {"02-tiles.cu", "02.cpp", "0_zero.cpp", "2 rows.cpp", "02_a\nb.cpp", "library_onednn-3.cpp"}) {
    write(name, "");
    EXPECT_THAT(error(), HasSubstr("a stage is called 01_name.cu")) << name;
    EXPECT_THAT(error(), Not(HasSubstr("\n"))) << name;
    std::filesystem::remove(path_ / name);
  }
  for (const char* const name : {"02_tiles.hpp", "2.txt", "library.cpp", "tiles.cu", ".cu"}) write(name, "");
  EXPECT_EQ(error(), "no error");
}

TEST_F(LadderFolderTest, PythonIsOnTheLadderOfItsLaunches) {
  write("02_rows.py", "# @title Rows\n# @target sm_90a\n# @launch rows grid(N)\n# text\nimport triton\n");
  write("02_host.py", "# @hypothesis it is called\ndef solve(): pass\n# @launch none grid(N)\n");
  write("library_other.py", "");
  const std::vector<StageSource> stages = read_ladder_folder(path_).stages;
  const auto named = [&](const char* name) { return *std::ranges::find(stages, name, &StageSource::name); };
  EXPECT_STREQ(named("rows").family(), "cuda");
  EXPECT_EQ(named("rows").target, "sm_90a");
  EXPECT_EQ(named("rows").description, "text");
  EXPECT_STREQ(named("host").family(), "cpu");
  EXPECT_EQ(named("host").hypothesis, "it is called");
  EXPECT_STREQ(named("other").family(), "cpu");
  write("03_wrong.py", "# @launch rows grid(Z)\n");
  EXPECT_THAT(error(), HasSubstr("03_wrong.py:1: @launch rows: grid: unknown name 'Z'"));
}

TEST_F(LadderFolderTest, LinksMayNotLeaveTheFolder) {
  std::filesystem::create_symlink("01_naive.cu", path_ / "02_inside.cu");
  EXPECT_EQ(error(), "no error");
  std::filesystem::create_symlink("/etc/passwd", path_ / "03_outside.cu");
  EXPECT_THAT(error(), HasSubstr("03_outside.cu: a link to a file outside of the folder"));
  std::filesystem::remove(path_ / "03_outside.cu");
  std::filesystem::create_symlink("nowhere.cu", path_ / "03_nowhere.cu");
  EXPECT_THAT(error(), HasSubstr("03_nowhere.cu: a link that leads nowhere"));
}

TEST_F(LadderFolderTest, NoLinkAtAnyDepthLeadsOut) {
  namespace fs = std::filesystem;
  fs::create_directories(path_ / "common/deep");
  fs::create_directories(path_ / ".venv/bin");
  fs::create_symlink("/usr/bin/env", path_ / ".venv/bin/python");
  fs::create_symlink("somebody@somewhere.17", path_ / ".#01_naive.cu");  // an editor's
  fs::create_symlink("common/deep", path_ / "inside");
  fs::create_symlink("../..", path_ / "common/deep/top");
  fs::create_symlink(fs::absolute(path_) / "inside", path_ / "common/again");
  EXPECT_EQ(error(), "no error");
  for (const char* const target : {"/etc", "..", "/proc/self", "/dev", "common/../..", "/"}) {
    for (const char* const name : {"out", "common/deep/out", ".out"}) {
      fs::create_symlink(fs::path(target).is_absolute() ? target : fs::absolute(path_) / target, path_ / name);
      EXPECT_THAT(error(), HasSubstr(std::string(name) + ": a link to a folder outside of the folder")) << target;
      EXPECT_THAT(error(), Not(HasSubstr("\n")));
      fs::remove(path_ / name);
    }
  }
  fs::create_symlink("/dev/zero", path_ / "notes.txt");
  EXPECT_THAT(error(), HasSubstr("notes.txt: a link to a file outside of the folder"));
  fs::remove(path_ / "notes.txt");
  fs::create_symlink("second", path_ / "first");
  EXPECT_THAT(error(), HasSubstr("first: a link that leads nowhere"));
  fs::create_symlink("first", path_ / "second");
  EXPECT_THAT(error(), HasSubstr("first: a link that leads in a circle"));
  fs::remove(path_ / "second");
  fs::create_symlink("/etc/hostname", path_ / "second");
  EXPECT_THAT(error(), HasSubstr("first: a link to a file outside of the folder"));
}

TEST_F(LadderFolderTest, TheFolderItselfMayBeALink) {
  const std::filesystem::path link = path_.string() + "-link";
  std::filesystem::remove(link);
  std::filesystem::create_symlink(path_, link);
  std::filesystem::create_symlink("01_naive.cu", path_ / "notes.txt");
  EXPECT_EQ(read_ladder_folder(link).stages.size(), 1);
  std::filesystem::remove(link);
}

TEST_F(LadderFolderTest, IncludeFoldersLieBesideIt) {
  const std::filesystem::path beside = path_.parent_path() / (path_.filename().string() + "-tiles");
  const std::string name = "../" + beside.filename().string();
  std::filesystem::remove_all(beside);
  std::string problem = kSmallProblem;
  write("problem.json", problem.insert(problem.find('{') + 1, "\"include_folders\": [\"" + name + "\"], "));
  EXPECT_THAT(error(), HasSubstr("problem.json: include_folders: '" + name + "' is no folder beside this one"));
  std::ofstream(beside) << "a file";
  EXPECT_THAT(error(), HasSubstr("is no folder beside this one"));
  std::filesystem::remove(beside);
  std::filesystem::create_symlink("/etc", beside);
  EXPECT_THAT(error(), HasSubstr("is a link, which may lead anywhere"));
  std::filesystem::remove(beside);
  std::filesystem::create_directory(beside);
  EXPECT_THAT(read_ladder_folder(path_).include_folders, testing::ElementsAre(std::filesystem::canonical(beside)));
  std::filesystem::create_symlink(beside, path_ / "tiles");
  EXPECT_EQ(error(), "no error");
  std::filesystem::create_symlink("/etc", beside / "out");
  EXPECT_THAT(error(), HasSubstr("out: a link to a folder outside of the folder"));
  std::filesystem::remove_all(beside);
}

TEST_F(LadderFolderTest, ThousandsOfStagesAreNoLadder) {
  for (int i = 2; i <= 1100; ++i) write(std::to_string(i) + "_stage" + std::to_string(i) + ".cpp", "");
  EXPECT_THAT(error(), HasSubstr("more than 1000 stages"));
}

}  // namespace
}  // namespace convladder
