// A run.json as it is read back for being compared: only what a comparison needs, checked.
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

/// `schema_version` of the run.json that this program writes, and all that it reads.
constexpr const char* kRunSchemaVersion = "1.0";

/// One kind of time of a case, in nanoseconds.
struct TimeFigure {
  std::string of;     ///< time_of::…
  std::string cache;  ///< "hot", "launched", "cold", or empty
  double median = 0;
  std::optional<double> low;  ///< of the median's interval, with `high`
  std::optional<double> high;
  std::optional<double> level = {};  ///< of the same interval
  std::vector<double> samples;       ///< in the order they were taken: one a round
  int iterations = 1;                ///< calls of each sample
  bool is_predicted = false;         ///< by a virtual clock

  bool is_hot() const { return cache.empty() || cache == "hot"; }
};

/// Counted on the simulated device. Names are Nsight Compute's; sums end in ".sum".
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
  std::string leaves_out;   ///< which idea; empty for all others
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
  /// It was run and went wrong.
  bool failed() const { return is_failure(status); }
  /// Stands beside the ladder.
  bool library() const { return !rung && leaves_out.empty(); }
  /// "disturbed: others used 1.6 of 2 cores"; empty if its quality is good or not recorded.
  std::string disturbance() const;
};

struct RecordedRun {
  std::string file;
  bool complete = false;
  nlohmann::ordered_json context;
  std::vector<std::string> planned;
  std::vector<RecordedCase> cases;
};

/// The JSON of a record's text; `file` is what messages call it. Throws UserError, one line, for what is not JSON (with
/// the byte), a key that is there twice, a number beyond a double, and what is too deep to work on.
nlohmann::ordered_json parse_record_json(std::string_view text, const std::string& file);

/// Throws UserError, with what to do, if it is a ladder's folder.
void refuse_folder_as_record(const std::string& file);
/// The JSON of a record's file. Of one that was cut in the last write to it, all whole cases: one line on standard
/// error says so. Of a file of another program (foreign_record.hpp) the run that says the same. Throws UserError as
/// above.
nlohmann::ordered_json read_record_json(const std::string& file);

/// What a record's context says of the device of that kind; an empty object if nothing.
nlohmann::ordered_json device_facts(const nlohmann::ordered_json& context, std::string_view kind);

/// "AMD EPYC, 2 threads": what tables call the device of that kind; the simulated device says only what it is.
std::string device_title(const nlohmann::ordered_json& context, const std::string& kind);

/// One of `cases`, as far as fields are there. Throws UserError for what is not of its kind: a name with control
/// characters, a sample that is no positive number below 10^18.
RecordedCase read_case(const JsonPlace& place);
/// One of its times; none where it is null, or has neither a median nor samples.
std::optional<TimeFigure> read_time(const JsonPlace& place);
/// A case's. Throws UserError.
Status read_status(const JsonPlace& place);

/// Reads the text of a run.json; `file` is what messages call it. Throws UserError, one line: as above, and
/// another kind of record, another schema version, a case that is there twice, a name with control characters,
/// a field that is missing or not of its kind, a sample that is no positive number below 10^18.
RecordedRun parse_recorded_run(std::string_view text, const std::string& file);
/// The same of what is parsed already, by parse_record_json.
RecordedRun recorded_run_of(const nlohmann::ordered_json& json, const std::string& file);

/// The same from a file.
RecordedRun read_recorded_run(const std::string& file);

}  // namespace convladder
