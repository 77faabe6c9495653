// A run.json as it is read back for being compared: only what a comparison needs, checked.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/isolation/status.hpp"
#include "support/json_place.hpp"

namespace convladder {

/// `schema_version` of the run.json that this program writes, and all that it reads.
constexpr const char* kRunSchemaVersion = "1.0";

/// Measured times of a case, in ns, in the order they were taken: one a round.
struct RecordedTime {
  std::string of;     ///< "op" or "layer"
  std::string cache;  ///< "hot", or empty
  std::vector<double> samples;
};

/// Counted on the simulated device. Names are Nsight Compute's; sums end in ".sum".
struct RecordedCounters {
  int images_executed = 0;
  std::vector<std::pair<std::string, double>> totals;
  std::vector<std::pair<std::string, double>> modelled;
};

struct RecordedCase {
  std::string id;
  std::string variant;
  std::string device;
  std::string network;
  std::string layer;
  int batch = 0;
  int rung = 0;          ///< on the ladder, from 1; 0 for a library
  bool library = false;  ///< stands beside the ladder
  Status status = Status::ok;
  std::string reason;  ///< without control characters
  std::string input;
  std::string choice;
  nlohmann::ordered_json shape;
  std::optional<RecordedTime> time;
  std::optional<RecordedCounters> counters;
  std::string disturbance;  ///< "disturbed: others used 1.6 of 2 cores"; empty if its quality is good or not recorded
  int session = 0;

  bool ok() const { return status == Status::ok; }
  /// It was run and went wrong.
  bool failed() const { return is_failure(status); }
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

/// The JSON of a record's file. Of one that was cut in the last write to it, all whole cases: one line on standard
/// error says so. Throws UserError as above.
nlohmann::ordered_json read_record_json(const std::string& file);

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
