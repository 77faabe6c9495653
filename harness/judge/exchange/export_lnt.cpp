// LNT's report format 2, for its test suite 'nts': https://llvm.org/docs/lnt/importing_data.html
//
// That suite has no metric for a counter or a prediction, and LNT refuses a metric that its suite does not have.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "harness/judge/exchange/export_format.hpp"
#include "support/json_text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

// The values of lnt.testing.PASS and FAIL.
constexpr int kPass = 0;
constexpr int kFail = 1;

/// The date as LNT writes it, "2026-01-31 12:00:00"; unchanged where it has another form.
std::string lnt_time(std::string date) {
  if (date.size() == 20 && date[10] == 'T' && date.back() == 'Z') {
    date[10] = ' ';
    date.pop_back();
  }
  return date;
}

ordered_json lnt_machine(const ExportedContext& about) {
  return {{"name", about.host},
          {"hardware", about.cpu},
          {"os", about.system},
          {"kernel", about.kernel},
          {"cores", std::to_string(about.cores)},
          {"threads", std::to_string(about.threads)},
          {"gpus", fmt::format("{}", fmt::join(about.gpus, ", "))}};
}

ordered_json lnt_run(const ExportedRecord& record) {
  const ExportedContext& about = record.context;
  ordered_json run = ordered_json::object();
  if (about.date != "unknown") {
    run["start_time"] = lnt_time(about.date);
    run["end_time"] = lnt_time(about.date);
  }
  run["llvm_project_revision"] = about.commit;  // LNT orders runs by it, whatever the project
  run["git_sha"] = about.commit;
  run["uncommitted_changes"] = about.dirty ? "yes" : "no";
  run["program"] = about.program;
  run["compiler"] = about.compiler;
  run["compiler_flags"] = about.compiler_flags;
  run["build_type"] = about.build_type;
  run["record_sha256"] = about.sha256;
  // A test can hold metrics only.
  std::map<std::string, std::string> by_verdict;
  for (const ExportedCase& one : record.cases) {
    if (!one.verdict) continue;
    std::string& names = by_verdict[one.verdict->verdict];
    names += (names.empty() ? "" : " ") + one.name;
  }
  for (const auto& [verdict, names] : by_verdict) run["convladder_" + verdict] = names;
  return run;
}

ExportedText lnt_export(const ExportedRecord& record, const ExportOptions& /*options*/) {
  ExportedText result;
  ordered_json tests = ordered_json::array();
  for (const ExportedCase& one : record.cases) {
    const ExportedFigure* const latency = one.latency();
    if (latency == nullptr && !is_failure(one.status)) {
      result.left_out.push_back(
          {one.name, why_left_out(one, "LNT's suite 'nts' has no metric for what was counted or predicted"), false});
      continue;
    }
    ordered_json test = {{"name", one.name}};
    if (latency != nullptr) {
      ordered_json seconds = ordered_json::array();
      for (const double ns : latency->samples) seconds.push_back(ns / 1e9);
      if (seconds.empty()) seconds.push_back(latency->value / 1e9);
      test["execution_time"] = std::move(seconds);
    }
    test["execution_status"] = latency == nullptr ? kFail : kPass;
    tests.push_back(std::move(test));
    ++result.written;
  }
  result.text = json_text({{"format_version", "2"},
                           {"machine", lnt_machine(record.context)},
                           {"run", lnt_run(record)},
                           {"tests", std::move(tests)}});
  return result;
}

const ExportFormatRegistration lnt_registration({"lnt", lnt_export});

}  // namespace
}  // namespace convladder
