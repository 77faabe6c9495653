// Google Benchmark's JSON, written by its own reporter, with the record's machine and date in place of this process's.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/judge/exchange/export_format.hpp"
#include "harness/judge/exchange/google_output.hpp"
#include "support/json_text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

ordered_json google_context(const ExportedContext& about) {
  ordered_json caches = ordered_json::array();
  for (const ExportedCache& one : about.caches) {
    caches.push_back({{"type", one.type}, {"level", one.level}, {"size", one.bytes}, {"num_sharing", 0}});
  }
  std::string date = about.date;  // Google Benchmark writes "2026-01-31T12:00:00+00:00"
  if (date.ends_with('Z')) date.replace(date.size() - 1, 1, "+00:00");
  return {{"date", date},
          {"host_name", about.host},
          {"executable", about.program},
          {"num_cpus", about.cores},
          {"mhz_per_cpu", 0},
          {"cpu_scaling_enabled", false},
          {"caches", std::move(caches)},
          {"load_avg", ordered_json::array()},
          {"library_build_type", "release"},
          {"cpu", about.cpu},
          {"commit", about.commit},
          {"uncommitted_changes", about.dirty ? "yes" : "no"},
          {"compiler", about.compiler}};
}

ExportedText google_export(const ExportedRecord& record, const ExportOptions& /*options*/) {
  ExportedText result;
  std::vector<GoogleCase> cases;
  for (const ExportedCase& one : record.cases) {
    const ExportedFigure* const latency = one.latency();
    if (latency == nullptr && !is_failure(one.status)) {
      result.left_out.push_back({one.name, why_left_out(one, "it was counted or predicted, and has no time"), false});
      continue;
    }
    GoogleCase& added = cases.emplace_back(GoogleCase{.name = one.name, .error = {}, .samples = {}, .label = {}});
    if (latency == nullptr) {
      added.error = why_left_out(one, "");
      continue;
    }
    added.samples = latency->samples.empty() ? std::vector{latency->value} : latency->samples;
    added.iterations = latency->iterations;
    added.label = verdict_text(one);
  }
  result.written = cases.size();
  ordered_json json = parse_json(google_json_text(cases, false), "Google Benchmark's reporter", "its JSON");
  json["context"] = google_context(record.context);
  result.text = json_text(json);
  return result;
}

const ExportFormatRegistration google_registration({"google", google_export});

}  // namespace
}  // namespace convladder
