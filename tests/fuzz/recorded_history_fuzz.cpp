// libFuzzer target for histories. A text is tried as a record and as a line of the index. What is a record can be
// shortened, written as a line of the index and read back as the same, and a history of it is shown without a control
// character; everything else is a UserError of one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "harness/judge/history/history_json.hpp"
#include "harness/judge/history/history_output.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// Runs it; a UserError must have one line.
template <typename Action>
void attempt(const Action& action) {
  try {
    action();
  } catch (const UserError& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

void check_index(const RecordedRun& whole) {
  const RecordedRun run = shortened(whole);
  const FileState state{.path = "/run.json", .size = 1, .modified_ns = 2, .inode = 3};
  const std::string line = index_line(state, run);
  require(line.find('\n') == line.size() - 1);
  const IndexLine read = parse_index_line(std::string_view(line).substr(0, line.size() - 1));
  require(read.state == state && kept_text(read.run) == kept_text(run));
}

void check_history(const RecordedRun& run) {
  HistoryRuns runs;
  // The second one a day later, by its commit and with other settings where it has any.
  for (const char* const date : {"2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"}) {
    runs.runs.push_back({.run = run, .date = date, .commit = "commit", .host = "host", .dirty = false});
    runs.runs.back().run.context.seed = runs.runs.size();
  }
  const History history = make_history(std::move(runs), {});
  const Report report = history_report(history);
  for (const char c : as_text(report) + as_markdown(report)) {
    require(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  }
  require(!history_json_text(history, {}).empty());
}

}  // namespace
}  // namespace convladder

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convladder;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([text] { parse_index_line(text); });
  attempt([text] {
    const RecordedRun run = parse_recorded_run(text, "fuzzed");
    check_index(run);
    check_history(run);
  });
  return 0;
}
