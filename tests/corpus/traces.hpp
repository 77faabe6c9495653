// The corpus of comparisons: what was measured once of pairs whose answer is known. README.md says how it was recorded.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/judge/duel/duel_round.hpp"
#include "harness/measure/records/record_context.hpp"

namespace convladder {

/// A duel with all rounds that there can be, whatever was decided when.
struct DuelTrace {
  std::string pair;           ///< "same build", "relinked", "more calls", "work-100-a .. work-105"
  std::optional<int> change;  ///< of the new side's work in percent; none where it is not known
  std::vector<DuelRound> screen;
  std::vector<DuelRound> confirm;
  std::vector<DuelRound> control;
};

/// A run of a few cases side by side.
struct RunTrace {
  std::string name;   ///< of what was run: "known-work", "convolution"
  std::string build;  ///< "first" or "relinked"
  std::string date;
  struct Case {
    std::string variant;
    std::optional<int> rung;
    std::vector<double> samples;  ///< nanoseconds, in the order of the rounds
  };
  std::vector<Case> cases;
  std::shared_ptr<const RecordContext> context;  ///< of its session
};

/// A call of record_traces.py: one machine, one load, some minutes.
struct TraceSession {
  std::string file;
  std::string machine;
  std::string load;
  std::string only;  ///< the variant, if it was chosen; such duels have rows of their own
  std::string date;
  std::string note;
  std::shared_ptr<const RecordContext> context;  ///< what a comparison looks at
  std::vector<DuelTrace> duels;
  std::vector<RunTrace> runs;
  std::vector<double> others;  ///< cores that others used, for each trace
  int left_out = 0;            ///< tries that gave no trace: a case failed, or the program refused
};

/// All files *.jsonl of the folder, by name. Throws UserError, one line with file and line, for what is no trace.
std::vector<TraceSession> read_traces(const std::filesystem::path& folder);

}  // namespace convladder
