// Where the program finds the scripts that draw its report.
#include "harness/commands/report_script.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace convladder {
namespace {

namespace fs = std::filesystem;

class ReportScript : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "build" / "release");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void put_script(const fs::path& below) const {
    fs::create_directories(below / "scripts/convladder_charts");
    std::ofstream(below / "scripts" / "report.py") << "print()\n";
  }

  fs::path folder_;
};

TEST_F(ReportScript, IsTwoFoldersAboveInASourceTree) {
  put_script(folder_);
  EXPECT_EQ(find_script(folder_ / "build" / "release" / "convladder", "report.py"), folder_ / "scripts" / "report.py");
}

TEST_F(ReportScript, BesideTheProgramGoesFirst) {
  put_script(folder_);
  put_script(folder_ / "build" / "release");
  EXPECT_EQ(find_script(folder_ / "build" / "release" / "convladder", "report.py"),
            folder_ / "build" / "release" / "scripts" / "report.py");
}

TEST_F(ReportScript, AFolderOfItsNameIsNoScript) {
  fs::create_directories(folder_ / "build" / "release" / "scripts" / "report.py");
  put_script(folder_);
  EXPECT_EQ(find_script(folder_ / "build" / "release" / "convladder", "report.py"), folder_ / "scripts" / "report.py");
}

TEST_F(ReportScript, OfAnInstalledTreeIsInShare) {
  put_script(folder_ / "share/convladder");
  EXPECT_EQ(find_script(folder_ / "bin/convladder", "report.py"), folder_ / "share/convladder/scripts/report.py");
}

TEST_F(ReportScript, OfSomebodyElseIsNotTaken) {
  fs::create_directories(folder_ / "build/scripts");
  std::ofstream(folder_ / "build/scripts/report.py") << "raise SystemExit('not ours')\n";
  put_script(folder_);
  EXPECT_EQ(find_script(folder_ / "build" / "release" / "convladder", "report.py"), folder_ / "scripts" / "report.py");
}

TEST(NoReportScript, EndsAtTheRoot) {
  EXPECT_FALSE(find_script("/no-such-folder/convladder", "report.py").has_value());
  EXPECT_FALSE(find_script("/convladder", "report.py").has_value());
  EXPECT_FALSE(find_script("convladder", "report.py").has_value());
}

}  // namespace
}  // namespace convladder
