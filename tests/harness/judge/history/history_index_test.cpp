#include "harness/judge/history/history_index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "harness/judge/history/history_files.hpp"
#include "harness/judge/history/history_json.hpp"
#include "temporary_folder.hpp"
#include "tests/harness/recorded_runs.hpp"

namespace convladder {
namespace {

using ::testing::HasSubstr;

RecordedRun short_record(double median_ns) {
  return shortened(recorded_run(
      recorded_run_json({timed_case_json("cpu", "flat-vector", 1, noisy_samples(median_ns, 0.01, 1, 3))})));
}

FileState state_of(int number) {
  return {.path = fmt::format("/runs/{}/run.json", number),
          .size = 100,
          .modified_ns = 1'700'000'000'123'456'789 + number,
          .inode = static_cast<std::uint64_t>(number)};
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST(HistoryIndex, FindsWhatWasAdded) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "index.jsonl";
  HistoryIndex index(path);
  index.add(state_of(1), short_record(1e6));
  index.add(state_of(2), short_record(2e6));
  EXPECT_EQ(index.trouble(), "");
  const HistoryIndex again(path);
  const RecordedRun* const run = again.find(state_of(2));
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(kept_text(*run), kept_text(short_record(2e6))) << "all digits of all samples";
  for (FileState changed : {FileState{state_of(2).path, 101, state_of(2).modified_ns, 2},
                            FileState{state_of(2).path, 100, state_of(2).modified_ns + 1, 2},
                            FileState{state_of(2).path, 100, state_of(2).modified_ns, 3}}) {
    EXPECT_EQ(again.find(changed), nullptr);
  }
}

TEST(HistoryIndex, SurvivesBeingTornAtEveryByte) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "index.jsonl";
  RecordedRun record = short_record(1e6);
  record.context = {};
  record.context.date = "2026-01-31T12:00:00Z";  // every byte of it is tried
  HistoryIndex(path).add(state_of(1), record);
  const std::size_t first_line = content(path).size();
  HistoryIndex(path).add(state_of(2), record);
  const std::string whole = content(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(path, whole.substr(0, size));
    HistoryIndex torn(path);
    ASSERT_EQ(torn.trouble(), "") << size;
    // The end of a line is not needed for the line to be whole.
    ASSERT_EQ(torn.find(state_of(1)) != nullptr, size + 1 >= first_line) << size;
    ASSERT_EQ(torn.find(state_of(2)) != nullptr, size + 1 >= whole.size()) << size;
    torn.add(state_of(3), record);
    const HistoryIndex next(path);
    ASSERT_NE(next.find(state_of(3)), nullptr) << size;
    ASSERT_EQ(next.find(state_of(1)) != nullptr, size + 1 >= first_line) << size;
    ASSERT_LE(next.torn_lines(), 1) << size;
  }
}

TEST(HistoryIndex, PassesOverForeignLines) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "index.jsonl";
  HistoryIndex(path).add(state_of(1), short_record(1e6));
  const std::string line = content(path);
  const std::string beginning = R"({"convladder_history_index":1,)";
  std::string foreign = line;
  for (const char* const other :
       {"", "hello", "{}", "null", "[[[[", "{\"convladder_history_index\":2,\"path\":\"x\"}"}) {
    foreign += std::string(other) + '\n';
  }
  foreign += beginning + R"("path":1})" + '\n';
  foreign += beginning + R"("path":"x","size":"1","modified_ns":1,"inode":1,"record":{}})" + '\n';
  foreign += beginning + R"("path":"x","size":1e999,"modified_ns":1,"inode":1,"record":{}})" + '\n';
  foreign += std::string(3, '\0') + '\n';
  HistoryIndex(folder.path() / "other").add(state_of(2), short_record(2e6));
  write(path, foreign + content(folder.path() / "other"));
  const HistoryIndex index(path);
  EXPECT_EQ(index.trouble(), "");
  EXPECT_EQ(index.torn_lines(), 9);
  EXPECT_NE(index.find(state_of(1)), nullptr);
  EXPECT_NE(index.find(state_of(2)), nullptr);
}

TEST(HistoryIndex, LeavesAFileThatIsNoIndexAsItIs) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "run.json";
  const std::string record = R"({"schema_version": "1.0"})";
  write(path, record);
  HistoryIndex index(path);
  EXPECT_THAT(index.trouble(), HasSubstr("not a history index"));
  index.add(state_of(1), short_record(1e6));
  EXPECT_EQ(content(path), record);
  EXPECT_THAT(HistoryIndex(folder.path()).trouble(), HasSubstr("not a file"));
}

TEST(HistoryIndex, SaysOnceWhyNothingIsKept) {
  HistoryIndex index("/no such folder/index.jsonl");
  EXPECT_EQ(index.trouble(), "");
  index.add(state_of(1), short_record(1e6));
  EXPECT_THAT(index.trouble(), HasSubstr("cannot be written"));
}

TEST(HistoryIndex, TakesLinesOfSeveralProcessesAtOnce) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "index.jsonl";
  constexpr int processes = 4;
  constexpr int records = 50;
  const RecordedRun record = short_record(1e6);
  std::vector<pid_t> children;
  for (int process = 0; process < processes; ++process) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      HistoryIndex index(path);
      for (int i = 0; i < records; ++i) index.add(state_of(process * records + i), record);
      _exit(index.trouble().empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const HistoryIndex index(path);
  EXPECT_EQ(index.torn_lines(), 0);
  for (int i = 0; i < processes * records; ++i) EXPECT_NE(index.find(state_of(i)), nullptr) << i;
}

}  // namespace
}  // namespace convladder
