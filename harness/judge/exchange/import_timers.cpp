// The JSON of hyperfine (--export-json), pytest-benchmark (--benchmark-json) and criterion (new/sample.json), read in
// place of a run.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/judge/exchange/imported_run.hpp"
#include "harness/measure/records/foreign_record.hpp"
#include "support/json_place.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr double kNsInSecond = 1e9;  // in a second
constexpr NumberRange kSeconds{.least = 0, .most = 1e9, .unit = "s"};

ImportedRun run_of(const char* program, const char* network) {
  ImportedRun run{.from = program, .network = network};
  run.devices = {{"cpu", "cpu", {{"name", "unknown processor"}}}};
  return run;
}

ImportedCase case_of(const std::string& name, const char* time_taken, std::vector<double> seconds) {
  ImportedCase one;
  one.name = name;
  one.time_taken = time_taken;
  for (double& second : seconds) second *= kNsInSecond;
  one.times.push_back({.cache = {}, .samples = std::move(seconds)});
  return one;
}

bool has_list(const ordered_json& json, const char* list, const char* of_first) {
  if (json.contains("schema_version")) return false;
  const ordered_json& items = value_at(json, list);
  return items.is_array() && !items.empty() && !value_at(items.front(), of_first).is_null();
}

bool is_hyperfine(const ordered_json& json) {
  return has_list(json, "/results", "/command") && has_list(json, "/results", "/mean");
}

ordered_json hyperfine_run_of(const ordered_json& json, const std::string& file, std::string_view text) {
  ImportedRun run = run_of("hyperfine", "hyperfine");
  for (const JsonPlace& result : JsonPlace(json, file).at("results").list()) {
    const std::vector<double> seconds =
        result.has("times") ? result.at("times").numbers(kSeconds) : std::vector{result.at("mean").number(kSeconds)};
    run.cases.push_back(case_of(result.at("command").some_text(), "wall-time", seconds));
  }
  run.notes.emplace_back("hyperfine writes no date: it is the file's, and no name of the host");
  return imported_run_json(run, file, text);
}

bool is_pytest_benchmark(const ordered_json& json) { return has_list(json, "/benchmarks", "/stats/rounds"); }

ordered_json pytest_benchmark_run_of(const ordered_json& json, const std::string& file, std::string_view text) {
  const JsonPlace place(json, file);
  ImportedRun run = run_of("pytest-benchmark", "pytest-benchmark");
  run.version = text_at(json, "/version");
  run.host = text_at(json, "/machine_info/node");
  run.commit = text_at(json, "/commit_info/id");
  run.date = utc_date(text_at(json, "/datetime"));
  std::size_t of_medians = 0;
  for (const JsonPlace& benchmark : place.at("benchmarks").list()) {
    const JsonPlace stats = benchmark.at("stats");
    std::vector<double> seconds;
    if (stats.has("data")) seconds = stats.at("data").numbers(kSeconds);
    if (seconds.empty()) {
      seconds = {stats.at("median").number(kSeconds)};
      ++of_medians;
    }
    run.cases.push_back(
        case_of(benchmark.at(benchmark.has("fullname") ? "fullname" : "name").some_text(), "wall-time", seconds));
  }
  if (of_medians > 0) {
    run.notes.push_back(fmt::format(
        "of {} of its benchmarks the file holds no data (--benchmark-save-data): their one sample is the median",
        of_medians));
  }
  return imported_run_json(run, file, text);
}

bool is_criterion(const ordered_json& json) {
  return json.is_object() && value_at(json, "/iters").is_array() && value_at(json, "/times").is_array() &&
         value_at(json, "/sampling_mode").is_string();
}

/// The benchmark's name is that of its folder: criterion/GROUP/NAME/new/sample.json.
ordered_json criterion_run_of(const ordered_json& json, const std::string& file, std::string_view text) {
  const JsonPlace place(json, file);
  ImportedRun run = run_of("criterion", "criterion");
  const std::vector<double> calls = place.at("iters").numbers({.least = 1});
  const std::vector<double> times = place.at("times").numbers({.least = 0, .most = 1e18, .unit = "ns"});
  if (calls.size() != times.size()) place.at("times").expected("as many as there are iters");
  std::vector<double> seconds;
  for (std::size_t i = 0; i < times.size(); ++i) seconds.push_back(times[i] / calls[i] / kNsInSecond);
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path().parent_path();
  run.cases.push_back(case_of(folder.filename().string(), "wall-time", seconds));
  run.notes.emplace_back("criterion's samples hold no name: it is that of their folder, and the date is the file's");
  return imported_run_json(run, file, text);
}

const ForeignFormatRegistration hyperfine_registration({"hyperfine", is_hyperfine, hyperfine_run_of});
const ForeignFormatRegistration pytest_benchmark_registration({"pytest-benchmark", is_pytest_benchmark,
                                                               pytest_benchmark_run_of});
const ForeignFormatRegistration criterion_registration({"criterion", is_criterion, criterion_run_of});

}  // namespace
}  // namespace convladder
