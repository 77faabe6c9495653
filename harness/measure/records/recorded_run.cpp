#include "harness/measure/records/recorded_run.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/foreign_record.hpp"
#include "harness/measure/records/record_context_json.hpp"
#include "harness/measure/records/record_file.hpp"
#include "ladders/ladder_folder.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr std::uintmax_t kLargeRecord = std::uintmax_t{64} << 20;  // bytes above which a record is read case by case

void require_version(const JsonPlace& run) {
  if (run.at("schema_version").text() != kRunSchemaVersion) {
    run.at("schema_version").expected(fmt::format("\"{}\", which this program reads", kRunSchemaVersion));
  }
  // A shard is a part of a run.
  if (run.at("kind").text() != "run" && run.at("kind").text() != "shard") {
    run.at("kind").expected("\"run\", a run of single layers");
  }
}

/// Checks the fields of a case that a comparison needs, and that its id follows from its other fields.
void check_case(const JsonPlace& place, const RecordedCase& one) {
  const std::string expected =
      fmt::format("{}/{}/{}.{}/{}", one.device, one.variant, one.network, one.layer, one.batch);
  if (one.id != expected) place.at("id").expected(fmt::format("\"{}\" by its other fields", expected));
  static_cast<void>(place.at("shape").object());
  static_cast<void>(place.at("session").count());
  if (place.has("time") && (!one.time || one.time->samples.empty())) {
    place.at("time").at("samples").expected("at least one");
  }
  if (one.ok() && !one.time && !one.counters) place.fail("expected a time or counters, because the status is \"ok\"");
}

}  // namespace

ordered_json parse_record_json(std::string_view text, const std::string& file) {
  // Other programs' files are read in place of a record (foreign_record.hpp).
  return parse_json(text, file, "a record of convladder, or Google Benchmark's or nvbench's JSON");
}

void refuse_folder_as_record(const std::string& file) {
  if (!is_ladder_folder(file)) return;
  const std::string name = printable(file);
  throw UserError(fmt::format("{}: a ladder's folder, not a record; 'convladder run {}' writes one", name, name));
}

namespace {

/// Repairs a text that is no JSON as it stands: one whose last write was cut, or one that another program writes. Empty
/// for anything else.
ordered_json mended_record_json(const std::string& text, const std::string& file) {
  if (const std::string closed = closed_record(text); !closed.empty() && ordered_json::accept(closed)) {
    ordered_json json = parse_record_json(closed, file);
    fmt::print(stderr, "convladder: {}: cut off in the middle; whole cases that are used: {}\n", printable(file),
               json.at("cases").size());
    return json;
  }
  const std::string finite = without_not_finite(text);
  if (finite.size() == text.size() || !ordered_json::accept(finite)) return {};
  ordered_json json = parse_record_json(finite, file);
  return foreign_format_of(json) != nullptr ? json : ordered_json();
}

}  // namespace

ordered_json read_record_json(const std::string& file) {
  refuse_folder_as_record(file);
  const std::string text = read_file_text(file);
  ordered_json json;
  try {
    json = parse_record_json(text, file);
  } catch (const UserError&) {
    json = mended_record_json(text, file);
    if (json.is_null()) throw;
  }
  const ForeignFormat* const foreign = foreign_format_of(json);
  return foreign == nullptr ? json : foreign->run_of(json, file, text);
}

RecordedRun parse_recorded_run(std::string_view text, const std::string& file) {
  return recorded_run_of(parse_record_json(text, file), file);
}

namespace {

/// The run with everything except the cases.
RecordedRun run_without_cases(const JsonPlace& place, const std::string& file) {
  require_version(place);
  RecordedRun run;
  run.file = file;
  run.complete = place.at("complete").truth();
  run.context = read_context(place.at("context"));
  if (place.has("planned")) {  // a history's own copies have none
    for (const JsonPlace& planned : place.at("planned").list()) run.planned.push_back(planned.name());
  }
  return run;
}

void add_case(RecordedRun& run, const JsonPlace& one, CaseFigures figures, std::set<std::string>& ids) {
  run.cases.push_back(figures == CaseFigures::all ? read_whole_case(one) : read_case(one));
  check_case(one, run.cases.back());
  if (!ids.insert(run.cases.back().id).second) one.at("id").fail("occurs twice");
}

/// Reads a file whose JSON would be many times as large in memory.
RecordedRun read_large_run(const std::string& file) {
  const RecordReader reader(file, {"ladders", "leave_one_out"});
  RecordedRun run = run_without_cases(JsonPlace(reader.fields(), file), file);
  std::set<std::string> ids;
  for (std::size_t i = 0; i < reader.cases(); ++i) {
    const ordered_json one = reader.case_at(i);
    add_case(run, JsonPlace(one, fmt::format("{}: cases[{}]", file, i)), CaseFigures::compared, ids);
  }
  return run;
}

}  // namespace

RecordedRun recorded_run_of(const ordered_json& json, const std::string& file, CaseFigures figures) {
  const JsonPlace place(json, file);
  RecordedRun run = run_without_cases(place, file);
  std::set<std::string> ids;
  for (const JsonPlace& one : place.at("cases").list()) add_case(run, one, figures, ids);
  return run;
}

RecordedRun read_recorded_run(const std::string& file) {
  std::error_code ignored;
  const bool is_large =
      std::filesystem::is_regular_file(file, ignored) && std::filesystem::file_size(file, ignored) > kLargeRecord;
  return is_large ? read_large_run(file) : recorded_run_of(read_record_json(file), file);
}

}  // namespace convladder
