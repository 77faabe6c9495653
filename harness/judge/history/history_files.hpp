// The runs of a history: found in folders, read, put in the order of time.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/history/history_index.hpp"
#include "harness/measure/records/recorded_run.hpp"

namespace convladder {

/// A run with its facts for the history. Texts hold no control characters.
struct HistoryRun {
  RecordedRun run;     ///< shortened, see shortened()
  std::string date;    ///< "2026-01-31T12:00:00Z"
  std::string commit;  ///< "unknown" where the record does not say
  std::string host;
  bool dirty = false;

  /// "012345678", with a "+" where the tree was changed.
  std::string commit_text() const { return commit.substr(0, 9) + (dirty ? "+" : ""); }
};

struct HistoryRuns {
  std::vector<HistoryRun> runs;         ///< by date, then by file
  std::vector<std::string> unreadable;  ///< one line each: file, place, what was expected
  std::vector<std::string> repeated;    ///< one line each: a copy of a run that is there already, which is left out
};

/// Every run.json below the folders, and every file that is named itself, sorted, absolute, each once. Folders that
/// cannot be looked into are named in `unreadable`. Throws UserError for a path that is not there.
std::vector<std::string> find_records(const std::vector<std::string>& paths, std::vector<std::string>& unreadable);

/// The parts of a run that a history needs: timed cases, cases that were not ok, and the context that can forbid a
/// comparison. Counted cases have no time and are left out.
RecordedRun shortened(RecordedRun run);

/// Reads all runs, from the index where it has them. Those that cannot be read are listed, and the rest is used.
HistoryRuns read_history_runs(const std::vector<std::string>& paths, HistoryIndex& index);

}  // namespace convladder
