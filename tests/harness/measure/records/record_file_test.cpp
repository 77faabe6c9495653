#include "harness/measure/records/record_file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "expect_error.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

ordered_json numbered(int number) {
  return {{"id", "case " + std::to_string(number)}, {"list", {{{"a", 1}}, {{"b", "}\n"}}}}, {"nothing", nullptr}};
}

ordered_json behind(int number) { return {{"ceilings", {{{"samples", {number, 2}}}, {{"x", 1}}}}, {"ladders", {}}}; }

class GrowingFile : public testing::Test {
 protected:
  fs::path path() const { return folder_.path() / "run.json"; }
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path(), std::ios::binary).rdbuf();
    return text.str();
  }
  void put(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }
  static ordered_json begun() {
    ordered_json record{{"schema_version", "1.0"}, {"complete", false}, {"cases", ordered_json::array()}};
    record.update(behind(0));
    return record;
  }
  static std::vector<std::string> ids(const ordered_json& record) {
    std::vector<std::string> list;
    for (const ordered_json& one : record.at("cases")) list.push_back(one.at("id"));
    return list;
  }
  ino_t inode() const {
    struct stat about = {};
    EXPECT_EQ(stat(path().c_str(), &about), 0);
    return about.st_ino;
  }
  TemporaryFolder folder_;
};

TEST_F(GrowingFile, IsTheRecordAfterEveryCaseAndIsNeverWrittenAnew) {
  RecordFile file = RecordFile::create(path());
  ordered_json record = begun();
  file.write(record);
  EXPECT_EQ(ordered_json::parse(content()), record);
  const ino_t first = inode();
  for (int number = 1; number <= 20; ++number) {
    const std::size_t before = content().size();
    file.append(numbered(number), behind(number));
    record["cases"].push_back(numbered(number));
    record.update(behind(number));
    EXPECT_EQ(ordered_json::parse(content()), record);
    EXPECT_LT(content().size() - before, 300U) << "what is added is one case, however many are there";
  }
  EXPECT_EQ(inode(), first);
  record["complete"] = true;
  file.write(record);
  EXPECT_EQ(ordered_json::parse(content()), record);
}

TEST_F(GrowingFile, CutAnywhereBehindItsBeginningGivesAllWholeCases) {
  RecordFile file = RecordFile::create(path());
  file.write(begun());
  std::vector<std::size_t> whole;  // sizes at which one more case is whole
  for (int number = 1; number <= 3; ++number) {
    file.append(numbered(number), behind(number));
    whole.push_back(content().find("\n ]", content().find("case " + std::to_string(number))));
  }
  const std::string text = content();
  const std::size_t begin = text.find("\"cases\": [") + 10;
  for (std::size_t size = begin; size < text.size() - 2; ++size) {
    put(text.substr(0, size));
    testing::internal::CaptureStderr();
    const ordered_json record = read_record_json(path());
    const std::string said = testing::internal::GetCapturedStderr();
    const auto expected =
        static_cast<std::size_t>(std::ranges::count_if(whole, [size](std::size_t end) { return size >= end; }));
    ASSERT_EQ(ids(record).size(), expected) << "cut behind " << size << " bytes";
    EXPECT_EQ(record.at("complete"), false);
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    EXPECT_NE(said.find("used: " + std::to_string(expected)), std::string::npos) << said;
  }
  put(text.substr(0, begin - 12));
  expect_error<UserError>([&] { static_cast<void>(read_record_json(path())); }, {"run.json", "not valid JSON"});
}

/// A kill in the middle of a write leaves the beginning of what is new over the old end.
TEST_F(GrowingFile, AWriteThatWasCutShortLosesNoOtherCase) {
  RecordFile file = RecordFile::create(path());
  file.write(begun());
  file.append(numbered(1), behind(1));
  const std::string before = content();
  file.append(numbered(2), behind(2));
  const std::string after = content();
  std::size_t same = 0;
  while (before[same] == after[same]) ++same;
  for (std::size_t written = same + 1; written < after.size(); ++written) {
    put(after.substr(0, written) + (written < before.size() ? before.substr(written) : ""));
    testing::internal::CaptureStderr();
    const std::vector<std::string> found = ids(read_record_json(path()));
    static_cast<void>(testing::internal::GetCapturedStderr());
    ASSERT_TRUE(found == std::vector<std::string>{"case 1"} || found == (std::vector<std::string>{"case 1", "case 2"}))
        << written;
  }
}

TEST_F(GrowingFile, ACompleteRecordThatWasCutIsNotComplete) {
  RecordFile file = RecordFile::create(path());
  ordered_json record = begun();
  record["cases"] = {numbered(1), numbered(2)};
  record["complete"] = true;
  file.write(record);
  const std::string text = content();
  put(text.substr(0, text.find("\"ladders\"")));
  testing::internal::CaptureStderr();
  const ordered_json found = read_record_json(path());
  static_cast<void>(testing::internal::GetCapturedStderr());
  EXPECT_EQ(found.at("complete"), false);
  EXPECT_EQ(ids(found), (std::vector<std::string>{"case 1", "case 2"}));
}

TEST_F(GrowingFile, OnAFullDiskStaysAsItWasAndGoesOnAfterwards) {
  RecordFile file = RecordFile::create(path());
  file.write(begun());
  file.append(numbered(1), behind(1));
  const std::string before_it = content();
  // A limit on the size of files stands for the disk's end.
  struct rlimit before {};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { before_it.size() + 10, before.rlim_max };
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    file.append(numbered(2), behind(2));
  } catch (const UserError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(message, "cannot write " + path().string() + ": File too large (see 'ulimit -f')");
  EXPECT_EQ(content(), before_it);
  file.append(numbered(2), behind(2));
  EXPECT_EQ(ids(ordered_json::parse(content())), (std::vector<std::string>{"case 1", "case 2"}));
}

TEST_F(GrowingFile, ThatSomebodyMovedAwayOrWroteIntoIsWrittenAnew) {
  RecordFile file = RecordFile::create(path());
  file.write(begun());
  fs::remove(path());
  file.append(numbered(1), behind(1));
  EXPECT_EQ(ids(ordered_json::parse(content())), (std::vector<std::string>{"case 1"}));
  put("{}");
  file.append(numbered(2), behind(2));
  EXPECT_EQ(ids(ordered_json::parse(content())), (std::vector<std::string>{"case 1", "case 2"}));
}

}  // namespace
}  // namespace convladder
