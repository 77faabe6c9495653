// A run.json read back for comparison: only the fields that a comparison needs, checked.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/cases/counters.hpp"
#include "harness/measure/isolation/status.hpp"
#include "harness/measure/machine/quality.hpp"
#include "support/json_place.hpp"

namespace convladder {

/// The `schema_version` of the run.json that this program writes, and the only one that it reads.
constexpr const char* kRunSchemaVersion = "1.0";

/// One kind of time of a case, in nanoseconds.
struct TimeFigure {
  std::string of;     ///< time_of::…
  std::string cache;  ///< "hot", "launched", "cold", or empty
  double median = 0;
  std::optional<double> low;  ///< of the median's interval; `high` is the other end
  std::optional<double> high;
  std::optional<double> level = {};  ///< of the interval from `low` to `high`
  std::vector<double> samples;       ///< in the order they were taken: one in each round
  int iterations = 1;                ///< calls of each sample
  bool is_predicted = false;         ///< by a virtual clock

  bool is_hot() const { return cache.empty() || cache == "hot"; }
};

/// Counters of a case on the simulated device. Names are Nsight Compute's; sums end in ".sum".
struct RecordedCounters {
  int images_executed = 0;
  CounterValues totals;
  CounterValues modelled;
};

struct RecordedCase {
  std::string id;
  std::string variant;
  std::string device;
  std::string network;
  std::string layer;
  int batch = 0;
  std::optional<int> rung;  ///< none: a library, or a stage without an idea
  std::string leaves_out;   ///< the idea that is left out; empty for all others
  Status status = Status::ok;
  std::string reason;  ///< without control characters
  std::string input;
  std::string choice;
  nlohmann::ordered_json shape;
  std::optional<TimeFigure> time;
  std::optional<RecordedCounters> counters;
  std::optional<Quality> quality;
  int session = 0;

  bool ok() const { return status == Status::ok; }
  /// Whether the case was run and went wrong.
  bool failed() const { return is_failure(status); }
  /// Whether the case is a library's, which stands beside the ladder.
  bool library() const { return !rung && leaves_out.empty(); }
  /// "disturbed: others used 1.6 of 2 cores"; empty if the case's quality is good or not recorded.
  std::string disturbance() const;
};

struct RecordedRun {
  std::string file;
  bool complete = false;
  nlohmann::ordered_json context;
  std::vector<std::string> planned;
  std::vector<RecordedCase> cases;
};

/// The JSON of a record's text; `file` is its name in messages. Throws UserError, one line, for a text that is not JSON
/// (with the byte), a key that occurs twice, a number beyond a double, and JSON too deep to work on.
nlohmann::ordered_json parse_record_json(std::string_view text, const std::string& file);

/// Throws UserError, with what to do, if the file is a ladder's folder.
void refuse_folder_as_record(const std::string& file);
/// The JSON of a record's file. For a record that was cut in its last write, all whole cases: one line on standard
/// error says so. For a file of another program (foreign_record.hpp), its run as a run.json. Throws UserError as
/// `parse_record_json`.
nlohmann::ordered_json read_record_json(const std::string& file);

/// The facts in a record's context about the device of that kind; an empty object if there are none.
nlohmann::ordered_json device_facts(const nlohmann::ordered_json& context, std::string_view kind);

/// "AMD EPYC, 2 threads": the name in tables of the device of that kind; the simulated device says only what it is.
std::string device_title(const nlohmann::ordered_json& context, const std::string& kind);

/// Reads one of `cases`, with those of its fields that are there. Throws UserError for a field of the wrong kind: a
/// name with control characters, a sample that is no positive number below 10^18.
RecordedCase read_case(const JsonPlace& place);
/// Reads one of a case's times; none where it is null, or has neither a median nor samples.
std::optional<TimeFigure> read_time(const JsonPlace& place);
/// Reads a case's status. Throws UserError.
Status read_status(const JsonPlace& place);

/// Reads the text of a run.json; `file` is its name in messages. Throws UserError, one line, as `parse_record_json`,
/// and for another kind of record, another schema version, a case that occurs twice, a name with control characters, a
/// field that is missing or of the wrong kind, a sample that is no positive number below 10^18.
RecordedRun parse_recorded_run(std::string_view text, const std::string& file);
/// As `parse_recorded_run`, for JSON already parsed by parse_record_json.
RecordedRun recorded_run_of(const nlohmann::ordered_json& json, const std::string& file);

/// As `parse_recorded_run`, for a file.
RecordedRun read_recorded_run(const std::string& file);

}  // namespace convladder
