// Where compiled stages are kept, by what the environment says.
#include "ladders/stage_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
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
  setenv("XDG_CACHE_HOME", "/somewhere/else", 1);
  EXPECT_EQ(default_stage_cache(), "/somewhere/else/convladder/stages");
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
  fs::remove(temporary());
  fs::create_directory_symlink(folder_.path(), temporary());
  EXPECT_THROW(default_stage_cache(), UserError);
}

}  // namespace
}  // namespace convladder
