#include <gtest/gtest.h>

#include <string>

#include "expect_error.hpp"
#include "harness/measure/records/record_file.hpp"
#include "harness/recorded_runs.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// A record as the program writes it, in a folder of its own.
class WrittenRecord {
 public:
  explicit WrittenRecord(int cases) {
    std::vector<ordered_json> all;
    for (int i = 0; i < cases; ++i) all.push_back(timed_case_json("cpu", "stage-" + std::to_string(i), i, {1.5, 2, 3}));
    json = recorded_run_json(all);
    json["ladders"] = ordered_json::array({{{"device", "cpu"}, {"rows", {1, 2}}}});
    json["leave_one_out"] = ordered_json::array();
    RecordFile::create(file).write(json);
    text = read_file_text(file.string());
  }

  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "run.json";
  ordered_json json;
  std::string text;
};

TEST(RecordReader, ReadsWhatTheWholeFileSays) {
  for (const int cases : {0, 1, 3}) {
    const WrittenRecord written(cases);
    const RecordReader reader(written.file);
    ASSERT_EQ(reader.cases(), static_cast<std::size_t>(cases));
    for (std::size_t i = 0; i < reader.cases(); ++i) EXPECT_EQ(reader.case_at(i), written.json.at("cases").at(i));
    ordered_json others = written.json;
    others.erase("cases");
    EXPECT_EQ(reader.fields(), others);
    EXPECT_FALSE(reader.is_cut());
    EXPECT_TRUE(begins_as_record(written.file));
  }
}

TEST(RecordReader, LeavesOutListsThatNobodyWants) {
  const WrittenRecord written(2);
  const RecordReader reader(written.file, {"ladders"});
  EXPECT_EQ(reader.cases(), 2U);
  EXPECT_EQ(reader.fields().at("ladders"), ordered_json::array());
  EXPECT_EQ(reader.fields().at("leave_one_out"), ordered_json::array());
  EXPECT_EQ(reader.fields().at("context"), written.json.at("context"));
}

TEST(RecordReader, OfACutFileAllWholeCases) {
  const WrittenRecord written(3);
  std::size_t before = 0;
  for (std::size_t bytes = written.text.find("\"cases\": [") + 10; bytes < written.text.size() - 1; bytes += 37) {
    write_file_atomically(written.file, written.text.substr(0, bytes));
    const RecordReader reader(written.file);
    ASSERT_TRUE(reader.is_cut()) << bytes;
    ASSERT_GE(reader.cases(), before);
    ASSERT_LE(reader.cases(), 3U);
    before = reader.cases();
    for (std::size_t i = 0; i < before; ++i) ASSERT_EQ(reader.case_at(i), written.json.at("cases").at(i));
    ASSERT_EQ(reader.fields().at("context"), written.json.at("context"));
  }
  EXPECT_EQ(before, 3U);
}

TEST(RecordReader, RefusesWhatIsNotLaidOutSo) {
  const WrittenRecord written(2);
  for (const std::string& text :
       {written.json.dump(), std::string("{}"), std::string(), std::string("\n \"cases\"\n")}) {
    write_file_atomically(written.file, text);
    EXPECT_FALSE(begins_as_record(written.file));
    expect_error<UserError>([&] { const RecordReader reader(written.file); }, {"no record as convladder writes it"});
  }
  expect_error<UserError>([&] { const RecordReader reader(written.folder.path() / "none"); }, {"cannot be read"});
  std::filesystem::resize_file(written.file, std::uintmax_t{100} << 20);  // zeros, and no end of a line
  expect_error<UserError>([&] { const RecordReader reader(written.file); }, {"a line is too long"});
  std::filesystem::resize_file(written.file, std::uintmax_t{1} << 40);
  expect_error<UserError>([&] { const RecordReader reader(written.file); }, {"larger than the limit"});
  write_file_atomically(written.file, "{\n \"a\": x,\n \"cases\": [\n ]\n}\n");
  expect_error<UserError>([&] { const RecordReader reader(written.file); }, {"not valid JSON"});
}

}  // namespace
}  // namespace convladder
