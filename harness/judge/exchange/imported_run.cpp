#include "harness/judge/exchange/imported_run.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/measure/cases/figures_json.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr double kLongestTime = 1e18;      // ns, as in every record
constexpr std::size_t kLongestName = 160;  // an id holds more than the name, and may have 256 bytes
constexpr std::size_t kShortenedName = 140;

std::string date_text(std::time_t seconds) {
  std::tm parts = {};
  if (::gmtime_r(&seconds, &parts) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string date_of_file(const std::string& file) {
  struct stat about = {};
  return ::stat(file.c_str(), &about) == 0 ? date_text(about.st_mtim.tv_sec) : std::string();
}

/// The whole number in `count` digits at `from`, if it lies from `least` to `most`; -1 for anything else.
int digits(std::string_view text, std::size_t from, std::size_t count, int least, int most) {
  int value = 0;
  for (std::size_t i = from; i < from + count; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value >= least && value <= most ? value : -1;
}

/// The name as part of an id: if it has to be changed, a checksum of the whole name keeps it unique.
std::string id_part(const std::string& name) {
  std::string part = printable(name);
  const bool changed = part != name || part.size() > kLongestName || part.empty();
  if (!changed) return part;
  return printable(part, kShortenedName) + '~' + sha256_hex(name).substr(0, 8);
}

/// Makes a name unique: the second of the same name becomes "NAME #2".
std::string unique_name(const std::string& name, std::set<std::string>& taken) {
  std::string unique = name;
  for (int number = 2; !taken.insert(unique).second; ++number) unique = fmt::format("{} #{}", name, number);
  return unique;
}

bool is_time(double ns) { return std::isfinite(ns) && ns > 0 && ns <= kLongestTime; }

ordered_json imported_time(const ImportedTime& time) {
  ordered_json json = measured_json(time.of, time.samples);
  if (!time.cache.empty()) json["cache"] = time.cache;
  json["iterations_per_sample"] = time.iterations;
  json["stopped_because"] = time.samples.size() > 1 ? "samples" : "once";
  return json;
}

/// Drops samples that cannot be times; a case that has none left is skipped.
void drop_impossible_times(ImportedCase& one, std::vector<std::string>& notes) {
  if (one.status != Status::ok) {
    one.times.clear();
    return;
  }
  std::size_t all = 0;
  std::size_t dropped = 0;
  for (ImportedTime& time : one.times) {
    all += time.samples.size();
    dropped += std::erase_if(time.samples, [](double ns) { return !is_time(ns); });
  }
  const bool has_own = !one.times.empty() && !one.times.front().samples.empty();
  std::erase_if(one.times, [](const ImportedTime& time) { return time.samples.empty(); });
  if (!has_own) {
    one.times.clear();
    one.status = Status::skipped;
    one.reason = all == 0 ? "the file holds no time of it" : "its time in the file is not above 0, or no number";
  } else if (dropped > 0) {
    notes.push_back(fmt::format("{}: {} of its {} times are not above 0, or no numbers, and are left out",
                                printable(one.name, kShortText), dropped, all));
  }
}

ordered_json imported_case(const ImportedCase& one, const std::string& variant, const std::string& network, int place) {
  ordered_json shape = ordered_json::object();
  for (const auto& [name, size] : one.shape) shape[name] = size;
  ordered_json other_times = ordered_json::array();
  for (std::size_t i = 1; i < one.times.size(); ++i) other_times.push_back(imported_time(one.times[i]));
  return {{"id", fmt::format("{}/{}/{}.{}/1", one.device, variant, network, one.time_taken)},
          {"variant", variant},
          {"family", one.device == "cpu" ? "cpu" : "cuda"},
          {"rung", place},
          {"device", one.device},
          {"network", network},
          {"layer", one.time_taken},
          {"shape", std::move(shape)},
          {"batch", 1},
          {"status", one.status},
          {"reason", text_or_null(printable(one.reason))},
          {"input", "unknown"},
          {"work", {{"flop", 0}, {"minimum_bytes", 0}}},
          {"verification", nullptr},
          {"time", one.times.empty() ? ordered_json() : imported_time(one.times.front())},
          {"other_times", std::move(other_times)},
          {"counters", nullptr},
          {"resources", ordered_json::array()},
          {"prediction", nullptr},
          {"choice", nullptr},
          {"device_state", ordered_json::object()},
          {"quality", nullptr},
          {"problem", network},
          {"session", 0}};
}

ordered_json imported_devices(const ImportedRun& run) {
  ordered_json list = ordered_json::array();
  for (const ImportedDevice& one : run.devices) {
    ordered_json facts = ordered_json::object();
    for (const auto& [name, value] : one.facts) facts[printable(name)] = printable(value);
    list.push_back({{"kind", one.kind}, {"family", one.family}, {"unavailable", nullptr}, {"facts", facts}});
  }
  return list;
}

ordered_json imported_context(const ImportedRun& run, const std::string& file, std::string_view text,
                              const std::vector<std::string>& notes) {
  const auto known = [](const std::string& value) { return value.empty() ? "unknown" : printable(value); };
  const std::string date = known(run.date.empty() ? date_of_file(file) : run.date);
  ordered_json caches = ordered_json::array();
  for (const RecordedCache& one : run.caches) {
    caches.push_back({{"level", one.level}, {"type", one.type}, {"bytes", one.bytes}});
  }
  ordered_json command_line = ordered_json::array();
  for (const std::string& word : run.command_line) command_line.push_back(printable(word));
  return {
      {"program",
       {{"name", known(run.executable)},
        {"version", "unknown"},
        {"commit", known(run.commit)},
        {"dirty", false},
        {"build_type", known(run.build_type)},
        {"compiler", "unknown"},
        {"compiler_flags", "unknown"},
        {"cpu_variant_flags", "unknown"},
        {"cuda_compiler", nullptr},
        {"cuda_architectures", nullptr},
        {"sanitized", false}}},
      {"host",
       {{"name", known(run.host)},
        {"system", "unknown"},
        {"kernel", "unknown"},
        {"virtual_machine", nullptr},
        {"memory_bytes", nullptr}}},
      {"cpu",
       {{"model", "unknown"},
        {"cores", or_null(run.cores)},
        {"threads", or_null(run.cores)},
        {"instruction_sets", ordered_json::array()},
        {"caches", std::move(caches)}}},
      {"devices", imported_devices(run)},
      {"libraries", ordered_json::object()},
      {"command_line", std::move(command_line)},
      {"options", ordered_json::object()},
      {"seed", 0},
      {"date", date},
      {"dataset",
       {{"name", "unknown"}, {"source", "unknown"}, {"images", 0}, {"height", 0}, {"width", 0}, {"sha256", ""}}},
      {"sessions", ordered_json::array({{{"started", date}}})},
      {"imported",
       {{"from", run.version.empty() ? run.from : fmt::format("{} {}", run.from, printable(run.version, kShortText))},
        {"file", printable(std::filesystem::path(file).filename().string())},
        {"sha256", sha256_hex(text)},
        {"date_of", run.date.empty() ? "the file" : "the run"},
        {"notes", notes}}}};
}

}  // namespace

ordered_json imported_run_json(const ImportedRun& run, const std::string& file, std::string_view text) {
  if (run.cases.empty()) throw UserError(fmt::format("{}: no benchmark in it", printable(file)));
  std::vector<std::string> notes = run.notes;
  std::map<std::string, std::set<std::string>> taken;         // by device
  std::map<std::pair<std::string, std::string>, int> places;  // of a family's variants, which two GPUs share
  ordered_json variants = ordered_json::array();
  ordered_json planned = ordered_json::array();
  ordered_json cases = ordered_json::array();
  for (ImportedCase one : run.cases) {
    drop_impossible_times(one, notes);
    const std::string variant = unique_name(id_part(one.name), taken[one.device]);
    const std::string family = one.device == "cpu" ? "cpu" : "cuda";
    const auto [place, added] = places.emplace(std::pair(family, variant), static_cast<int>(places.size()) + 1);
    cases.push_back(imported_case(one, variant, run.network, place->second));
    planned.push_back(cases.back().at("id"));
    if (!added) continue;
    variants.push_back({{"family", family},
                        {"rung", place->second},
                        {"name", variant},
                        {"title", variant},
                        {"builds_on", nullptr},
                        {"hypothesis", ""}});
  }
  return {{"schema_version", kRunSchemaVersion},
          {"kind", "run"},
          {"complete", true},
          {"context", imported_context(run, file, text, notes)},
          {"variants", std::move(variants)},
          {"planned", std::move(planned)},
          {"cases", std::move(cases)},
          {"ladders", ordered_json::array()}};
}

ImportedFile import_file(const std::string& file, const std::string& date, const std::string& commit) {
  ordered_json run = read_record_json(file);
  if (!value_at(run, "/context/imported").is_object()) {
    throw UserError(fmt::format("{}: neither Google Benchmark's JSON nor nvbench's", printable(file)));
  }
  ordered_json& context = run.at("context");
  if (!date.empty()) {
    const std::string utc = utc_date(date);
    if (utc.empty()) {
      throw UserError(fmt::format("--date {}: expected a time such as 2026-01-31T12:00:00Z", printable(date)));
    }
    context["date"] = utc;
    context["sessions"][0]["started"] = utc;
    context["imported"]["date_of"] = "the run";
  }
  if (!commit.empty()) context["program"]["commit"] = printable(commit);
  const JsonPlace notes = JsonPlace(context.at("imported"), file + ": context: imported").at("notes");
  return {.text = json_text(run),
          .cases = value_at(run, "/cases").size(),
          .notes = notes.is_null() ? std::vector<std::string>() : notes.texts()};
}

std::string utc_date(std::string_view text) {
  const bool old = text.size() == 19 && text[4] == '/' && text[7] == '/' && text[10] == '-';
  // Without a time zone where it is not asked for, as Google Benchmark wrote it until 2020.
  const bool iso = text.size() >= 19 && text[4] == '-' && text[7] == '-' && (text[10] == 'T' || text[10] == ' ');
  if ((!old && !iso) || text[13] != ':' || text[16] != ':') return {};
  const int year = digits(text, 0, 4, 1970, 9999);
  const int month = digits(text, 5, 2, 1, 12);
  const int day = digits(text, 8, 2, 1, 31);
  const int hour = digits(text, 11, 2, 0, 23);
  const int minute = digits(text, 14, 2, 0, 59);
  const int second = digits(text, 17, 2, 0, 60);
  if (year < 0 || month < 0 || day < 0 || hour < 0 || minute < 0 || second < 0) return {};
  long offset = 0;
  if (iso && text.size() > 19 && text.substr(19) != "Z") {
    const std::string_view zone = text.substr(19);
    const int hours = digits(zone, 1, 2, 0, 23);
    const int minutes = digits(zone, 4, 2, 0, 59);
    if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':' || hours < 0 || minutes < 0) return {};
    offset = (zone[0] == '+' ? 1 : -1) * (hours * 3600L + minutes * 60L);
  }
  std::tm parts = {};
  parts.tm_year = year - 1900;
  parts.tm_mon = month - 1;
  parts.tm_mday = day;
  parts.tm_hour = hour;
  parts.tm_min = minute;
  parts.tm_sec = second;
  return date_text(::timegm(&parts) - offset);
}

}  // namespace convladder
