// Makes a run.json from the measurements of another program: as much as its file says, and "unknown" for the rest.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/records/recorded_run.hpp"

namespace convladder {

struct ImportedTime {
  std::string of = "layer";     ///< as a record's `time.of`
  std::string cache;            ///< "hot", "cold", or empty where the file does not say
  std::vector<double> samples;  ///< nanoseconds of one call
  int iterations = 1;           ///< the number of calls in each sample; 1 if the file does not say
};

struct ImportedCase {
  std::string name;            ///< as in the file: any text
  std::string device = "cpu";  ///< "cpu", "cuda0"
  std::string time_taken;      ///< "real-time": cases with the same device and time form a group
  Status status = Status::ok;
  std::string reason;
  RecordedShape shape;
  std::vector<ImportedTime> times;  ///< the case's own first; empty unless it is ok
};

struct ImportedDevice {
  std::string kind;
  std::string family;
  std::vector<std::pair<std::string, std::string>> facts;  ///< the first is the name
};

struct ImportedRun {
  std::string from;          ///< "Google Benchmark"
  std::string version = {};  ///< empty: the file does not say
  std::string network;       ///< the network's name in the ids: "google-benchmark"
  std::string date = {};     ///< "2026-01-31T12:00:00Z"; empty: the file's own date
  std::string host = {};
  std::string executable = {};
  std::string commit = {};
  std::string build_type = {};
  std::vector<std::string> command_line = {};
  std::optional<int> cores = {};
  std::vector<RecordedCache> caches = {};
  std::vector<ImportedDevice> devices = {};
  std::vector<ImportedCase> cases = {};
  std::vector<std::string> notes = {};  ///< further remarks, a line each
};

/// Throws UserError if the run holds no case. Names are made printable, short enough and unique; a case without valid
/// times is skipped, with a note.
nlohmann::ordered_json imported_run_json(const ImportedRun& run, const std::string& file, std::string_view text);

/// A file of another program as a run.json.
struct ImportedFile {
  std::string text;
  std::size_t cases = 0;
  std::vector<std::string> notes;  ///< what a reader has to know about it, a line each
};

/// Reads a file that `import` turns into a run.json; `date` and `commit`, unless they are empty, stand in place of its
/// own. Throws UserError, also for a date that `utc_date` does not know, and for a file that nobody else wrote.
ImportedFile import_file(const std::string& file, const std::string& date, const std::string& commit);

/// A date in UTC: "2026-01-31T12:00:00Z" for "2026-01-31T14:00:00+02:00", for "2026-01-31T12:00:00Z", and for
/// "2026/01/31-12:00:00", which has no zone; empty for anything else.
std::string utc_date(std::string_view text);

}  // namespace convladder
