// Where compiled stages are kept, by what the environment says.
#include "ladders/stage_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "support/errors.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

class StageCache : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name : {"XDG_CACHE_HOME", "HOME", "TMPDIR"}) {
      const char* const value = std::getenv(name);
      before_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
    }
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    setenv("TMPDIR", folder_.path().c_str(), 1);
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }
  fs::path temporary() const { return folder_.path() / ("convladder-" + std::to_string(getuid())); }

  TemporaryFolder folder_;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(StageCache, IsInTheHome) {
  setenv("HOME", (folder_.path() / "home").c_str(), 1);
  EXPECT_EQ(default_stage_cache(), folder_.path() / "home/.cache/convladder/stages");
  setenv("XDG_CACHE_HOME", (folder_.path() / "elsewhere").c_str(), 1);
  EXPECT_EQ(default_stage_cache(), folder_.path() / "elsewhere/convladder/stages");
}

TEST_F(StageCache, IsAFolderOfOnesOwnWhereThereIsNoHome) {
  EXPECT_EQ(default_stage_cache(), temporary() / "stages");
  setenv("HOME", "/proc/no-home", 1);  // as of the accounts of services: nobody can make it
  EXPECT_EQ(default_stage_cache(), temporary() / "stages");
  struct stat status {};
  ASSERT_EQ(stat(temporary().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(StageCache, IsNotOneThatOthersWriteIn) {
  fs::create_directory(temporary());
  fs::permissions(temporary(), fs::perms::all);
  EXPECT_THROW(default_stage_cache(), UserError);
  fs::remove_all(temporary());
  fs::create_directory_symlink(folder_.path(), temporary());
  EXPECT_THROW(default_stage_cache(), UserError);
}

TEST_F(StageCache, IsRefusedWhereOthersCanWriteInItOrAboveIt) {
  const fs::path cache = folder_.path() / "cache";
  setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  const fs::path stages = default_stage_cache();
  for (const fs::path& folder : {stages, stages.parent_path(), cache}) {
    fs::permissions(folder, fs::perms::group_write, fs::perm_options::add);
    EXPECT_THROW(default_stage_cache(), UserError) << folder;
    fs::permissions(folder, fs::perms::group_write, fs::perm_options::remove);
    EXPECT_EQ(default_stage_cache(), stages);
  }
  // As the system's folder for temporary files: nobody can replace what belongs to others there.
  fs::permissions(cache, fs::perms::all | fs::perms::sticky_bit);
  EXPECT_EQ(default_stage_cache(), stages);
}

TEST_F(StageCache, IsRefusedWhereItOrAFolderAboveItBelongsToAnother) {
  if (getuid() != 0) GTEST_SKIP() << "only root gives folders away";
  const fs::path cache = folder_.path() / "cache";
  setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  const fs::path stages = default_stage_cache();
  for (const fs::path& folder : {stages, stages.parent_path(), cache}) {
    ASSERT_EQ(chown(folder.c_str(), 1234, 0), 0);
    EXPECT_THROW(default_stage_cache(), UserError) << folder;
    ASSERT_EQ(chown(folder.c_str(), 0, 0), 0);
  }
  std::ofstream(stages / "library.so") << "somebody's";
  EXPECT_TRUE(is_file_of_ones_own(stages / "library.so"));
  ASSERT_EQ(chown((stages / "library.so").c_str(), 1234, 0), 0);
  EXPECT_FALSE(is_file_of_ones_own(stages / "library.so"));
}

TEST_F(StageCache, FollowsOnlyLinksOfOnesOwn) {
  if (getuid() != 0) GTEST_SKIP() << "only root gives links away";
  fs::create_directory(folder_.path() / "real");
  fs::create_directory_symlink(folder_.path() / "real", folder_.path() / "link");
  setenv("XDG_CACHE_HOME", (folder_.path() / "link").c_str(), 1);
  EXPECT_EQ(default_stage_cache(), folder_.path() / "link/convladder/stages");
  ASSERT_EQ(lchown((folder_.path() / "link").c_str(), 1234, 0), 0);
  EXPECT_THROW(default_stage_cache(), UserError);
}

TEST_F(StageCache, IsNotInAHomeThatAnotherCanWriteIn) {
  const fs::path home = folder_.path() / "home";
  fs::create_directory(home);
  setenv("HOME", home.c_str(), 1);
  EXPECT_EQ(default_stage_cache(), home / ".cache/convladder/stages");
  fs::permissions(home, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(default_stage_cache(), temporary() / "stages");
}

}  // namespace
}  // namespace convladder
