// Google Benchmark's JSON (--benchmark_format=json, --benchmark_out), read in place of a run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/judge/exchange/imported_run.hpp"
#include "harness/measure/records/foreign_record.hpp"
#include "support/json_place.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

constexpr std::int64_t kMostIterations = 1 << 30;  // the most that a record can hold

/// The endings of aggregates' names in older versions, which write no run_type.
constexpr std::array<std::string_view, 6> kAggregateEnds{"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"};

/// The key of a benchmark with its arguments, which its repetitions and aggregates share.
using Key = std::tuple<std::string, int, int>;

struct Repetitions {
  Key key;
  ImportedCase imported;
  std::vector<double> aggregates;  ///< the file's median if it holds one, else its mean
  bool has_median = false;
};

double unit_of(const JsonPlace& run) {
  if (!run.has("time_unit")) return 1;
  const std::string name = run.at("time_unit").text();
  const auto unit = std::ranges::find(kUnits, name, [](const auto& one) { return one.first; });
  if (unit == kUnits.end()) run.at("time_unit").expected("\"ns\", \"us\", \"ms\" or \"s\"");
  return unit->second;
}

bool is_aggregate(const JsonPlace& run, const std::string& name) {
  if (run.has("run_type")) {
    const std::string type = run.at("run_type").text();
    if (type != "iteration" && type != "aggregate") run.at("run_type").expected("\"iteration\" or \"aggregate\"");
    return type == "aggregate";
  }
  return std::ranges::any_of(kAggregateEnds, [&](std::string_view end) { return name.ends_with(end); });
}

Key key_of(const JsonPlace& run, const std::string& name) {
  const auto index = [&](const char* field) { return run.has(field) ? run.at(field).count() : 0; };
  return {run.has("run_name") ? run.at("run_name").text() : name, index("family_index"),
          index("per_family_instance_index")};
}

/// The name of an aggregate: in a file without run_name it is the ending of the run's name.
std::string aggregate_of(const JsonPlace& run, const std::string& name) {
  if (run.has("aggregate_name")) return run.at("aggregate_name").text();
  return name.substr(name.rfind('_') + 1);
}

void read_iteration(const JsonPlace& run, double unit, Repetitions& into) {
  ImportedCase& one = into.imported;
  const auto message = [&](const char* field) {
    return run.has(field) ? run.at(field).text() : std::string("no message");
  };
  if (run.has("error_occurred") && run.at("error_occurred").truth()) {
    one.status = Status::launch_failed;
    one.reason = message("error_message");
    return;
  }
  if (run.has("skipped") && run.at("skipped").truth()) {
    one.status = Status::skipped;
    one.reason = message("skip_message");
    return;
  }
  if (one.times.empty()) one.times.emplace_back();
  // Kept as they are: values that are no times are reported later.
  one.times.front().samples.push_back(run.at("real_time").number_or_none().value_or(0) * unit);
  if (run.has("iterations")) {
    const auto iterations = run.at("iterations").whole<std::int64_t>(0);
    one.times.front().iterations = static_cast<int>(std::clamp<std::int64_t>(iterations, 1, kMostIterations));
  }
  if (run.has("threads")) one.shape = {{"threads", run.at("threads").count()}};
}

void read_aggregate(const JsonPlace& run, const std::string& name, double unit, Repetitions& into) {
  const std::string aggregate = aggregate_of(run, name);
  if (aggregate != "median" && (aggregate != "mean" || into.has_median)) return;
  into.has_median = aggregate == "median";
  into.aggregates = {run.at("real_time").number_or_none().value_or(0) * unit};
  if (run.has("threads")) into.imported.shape = {{"threads", run.at("threads").count()}};
}

std::vector<Repetitions> read_benchmarks(const JsonPlace& file) {
  std::vector<Repetitions> all;
  std::map<Key, std::size_t> index;
  for (const JsonPlace& run : file.at("benchmarks").list()) {
    const std::string name = run.at("name").text();
    const double unit = unit_of(run);
    const bool aggregate = is_aggregate(run, name);
    Key key = key_of(run, name);
    if (aggregate && !run.has("run_name")) std::get<0>(key) = name.substr(0, name.rfind('_'));
    const auto [place, added] = index.emplace(key, all.size());
    if (added) {
      all.push_back({.key = key, .imported = {}, .aggregates = {}});
      all.back().imported.name = std::get<0>(key);
      all.back().imported.time_taken = "real-time";
    }
    if (aggregate) {
      read_aggregate(run, name, unit, all[place->second]);
    } else {
      read_iteration(run, unit, all[place->second]);
    }
  }
  return all;
}

/// Reads the context as far as it exists: an old version, or another program that writes the format, has less of it.
void read_context(const JsonPlace& context, ImportedRun& run) {
  const auto text = [&](const char* field) { return context.has(field) ? context.at(field).text() : std::string(); };
  run.version = text("library_version");
  if (run.version.starts_with('v')) run.version.erase(0, 1);
  run.date = utc_date(text("date"));
  if (run.date.empty() && !text("date").empty()) {
    context.at("date").expected("a time such as 2026-01-31T12:00:00+01:00 or 2026-01-31 12:00:00");
  }
  if (text("date").size() == 19) run.notes.emplace_back("its date says no time zone, and is taken for UTC");
  run.host = text("host_name");
  run.executable = text("executable");
  run.commit = text("commit");
  run.build_type = text("library_build_type");
  if (!run.executable.empty()) run.command_line = {run.executable};
  std::string name = "unknown processor";
  if (context.has("num_cpus")) {
    run.cores = context.at("num_cpus").count();
    name += fmt::format(", {} cores", *run.cores);
  }
  run.devices = {{"cpu", "cpu", {{"name", name}}}};
  if (!context.has("caches")) return;
  for (const JsonPlace& cache : context.at("caches").list()) {
    run.caches.push_back({.level = static_cast<std::uint64_t>(cache.at("level").count()),
                          .type = cache.at("type").name(),
                          .bytes = static_cast<std::uint64_t>(cache.at("size").whole<std::int64_t>(0))});
  }
}

ordered_json google_benchmark_run_of(const ordered_json& json, const std::string& file, std::string_view text) {
  const JsonPlace place(json, file);
  ImportedRun run{.from = "Google Benchmark", .network = "google-benchmark"};
  run.devices = {{"cpu", "cpu", {{"name", "unknown processor"}}}};
  if (place.has("context")) read_context(place.at("context"), run);
  std::size_t of_aggregates = 0;
  for (Repetitions& one : read_benchmarks(place)) {
    if (one.imported.times.empty() && one.imported.status == Status::ok && !one.aggregates.empty()) {
      one.imported.times.push_back({.cache = {}, .samples = one.aggregates});
      ++of_aggregates;
    } else if (one.imported.times.empty() && one.imported.status == Status::ok) {
      continue;  // a complexity is not a time
    }
    run.cases.push_back(std::move(one.imported));
  }
  if (of_aggregates > 0) {
    run.notes.push_back(
        fmt::format("of {} of its benchmarks the file holds aggregates only: their one sample is the "
                    "median of the repetitions, or the mean",
                    of_aggregates));
  }
  return imported_run_json(run, file, text);
}

bool is_google_benchmark(const ordered_json& json) {
  const ordered_json& benchmarks = value_at(json, "/benchmarks");
  if (!benchmarks.is_array() || json.contains("schema_version")) return false;
  const ordered_json& context = value_at(json, "/context");
  if (benchmarks.empty())
    return context.is_object() && (context.contains("num_cpus") || context.contains("executable"));
  const ordered_json& first = benchmarks.front();
  if (!first.is_object() || !first.contains("name") || first.contains("states")) return false;
  return first.contains("real_time") || first.contains("run_type") || first.contains("error_occurred") ||
         first.contains("cpu_coefficient");
}

const ForeignFormatRegistration google_benchmark_registration({"Google Benchmark", is_google_benchmark,
                                                               google_benchmark_run_of});

}  // namespace
}  // namespace convladder
