// The JSON of histories: the lines of the index, and what `convladder history` writes for the charts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/judge/history/alarms.hpp"
#include "harness/judge/history/history.hpp"
#include "harness/judge/history/history_index.hpp"
#include "harness/judge/history/measured_history.hpp"

namespace convladder {

/// The beginning of every line of an index, by which a file is known as one; the number is the version of the rest.
inline constexpr std::string_view kIndexBeginning = R"({"convladder_history_index":1,)";

/// The content of a line of an index.
struct IndexLine {
  FileState state;
  RecordedRun run;
};

/// Parses a line. Throws UserError for anything that is not a line of an index.
IndexLine parse_index_line(std::string_view line);
/// The line for a shortened record (history_files.hpp), with its newline.
std::string index_line(const FileState& state, const RecordedRun& run);
/// As much of a shortened record as a line of an index keeps, on one line: the same for copies of a run.
std::string kept_text(const RecordedRun& run);

/// The history as {"kind": "history", "alpha", …, "runs", "series", "unreadable", "notes"}, and "confirmed" if the
/// alarms were measured again; docs/use/history.md describes it.
std::string history_json_text(const History& history, const std::optional<ConfirmedAlarms>& confirmed);

/// The selftest as {"kind": "history selftest", …, "levels", "histories"}.
std::string history_selftest_json_text(const HistorySelftest& selftest);

}  // namespace convladder
