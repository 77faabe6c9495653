// A run.json read back for comparison: only the fields that a comparison needs, checked.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/records/record_context.hpp"
#include "harness/measure/records/recorded_case.hpp"

namespace convladder {

/// The `schema_version` of the run.json that this program writes, and the only one that it reads.
constexpr const char* kRunSchemaVersion = "1.1";

struct RecordedRun {
  std::string file;
  bool complete = false;
  RecordContext context;
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

/// Reads the text of a run.json; `file` is its name in messages. Throws UserError, one line, as `parse_record_json`,
/// and for another kind of record, another schema version, a case that occurs twice, a name with control characters, a
/// field that is missing or of the wrong kind, a sample that is no positive number below 10^18.
RecordedRun parse_recorded_run(std::string_view text, const std::string& file);
/// As `parse_recorded_run`, for JSON already parsed by parse_record_json; of the cases those figures that a comparison
/// needs, or all that the program writes.
enum class CaseFigures { compared, all };
RecordedRun recorded_run_of(const nlohmann::ordered_json& json, const std::string& file,
                            CaseFigures figures = CaseFigures::compared);

/// As `parse_recorded_run`, for a file.
RecordedRun read_recorded_run(const std::string& file);

}  // namespace convladder
