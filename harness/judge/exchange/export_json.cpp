// The formats that are JSON, one after the other, each with the page that describes it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/exchange/export_format.hpp"
#include "harness/judge/exchange/exported_checks.hpp"
#include "harness/judge/exchange/google_output.hpp"
#include "harness/judge/exchange/outcome.hpp"
#include "harness/judge/exchange/source_files.hpp"
#include "simulator/lints/lint.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// Whether it has the verdict, and not from a duel that shows nothing.
bool has_verdict(const ExportedCase& one, CaseVerdict verdict) {
  return one.verdict && one.verdict->stands && one.verdict->verdict == case_verdict_name(verdict);
}

/// The samples in their order, or the one value where there are none.
std::vector<double> samples_or_value(const ExportedFigure& figure) {
  return figure.samples.empty() ? std::vector{figure.value} : figure.samples;
}

// Bencher's metric format (BMF): https://bencher.dev/docs/reference/bencher-metric-format/

constexpr std::size_t kLongestBenchmark = 1024;  // characters of a benchmark's name, by Bencher's documentation
constexpr std::size_t kLongestMeasure = 64;

ordered_json bencher_metric(const ExportedFigure& figure) {
  ordered_json json = {{"value", figure.value}};
  if (figure.low) json["lower_value"] = *figure.low;
  if (figure.high) json["upper_value"] = *figure.high;
  return json;
}

ExportedText bencher_export(const ExportedRecord& record, const ExportOptions& /*options*/) {
  ExportedText result;
  ordered_json benchmarks = ordered_json::object();
  for (const ExportedCase& one : record.cases) {
    ordered_json measures = ordered_json::object();
    for (const ExportedFigure& figure : one.figures) {
      if (figure.measure.size() > kLongestMeasure) {
        result.left_out.push_back(
            {one.name, fmt::format("Bencher takes no measure of such a long name: {}", figure.measure), false, true});
      } else {
        measures[figure.measure] = bencher_metric(figure);
      }
    }
    // A threshold on it raises an alarm where the comparison does, and nowhere else.
    if (one.verdict && !measures.empty()) {
      measures["regressed"] = {{"value", has_verdict(one, CaseVerdict::regressed) ? 1 : 0}};
    }
    if (measures.empty()) {
      result.left_out.push_back({one.name, why_left_out(one, "it has no figure"), is_failure(one.status)});
    } else if (one.name.size() > kLongestBenchmark) {
      result.left_out.push_back({one.name, "Bencher takes no benchmark of such a long name"});
    } else {
      benchmarks[one.name] = std::move(measures);
      ++result.written;
    }
  }
  result.text = json_text(benchmarks);
  return result;
}

// github-action-benchmark's customSmallerIsBetter: https://github.com/benchmark-action/github-action-benchmark

/// An entry's name: "cpu/flat-vector/lenet72.conv1/10", with the measure for other figures: "… (latency-op-cold)".
std::string entry_name(const ExportedCase& one, const ExportedFigure& figure) {
  return figure.measure == "latency" ? one.name : fmt::format("{} ({})", one.name, figure.measure);
}

ordered_json action_entry(const ExportedCase& one, const ExportedFigure& figure) {
  ordered_json json = {{"name", entry_name(one, figure)}, {"unit", figure.unit}, {"value", figure.value}};
  // The action draws one number for both sides: the farther bound.
  if (figure.low && figure.high) {
    json["range"] = fmt::format("± {}", std::max(figure.value - *figure.low, *figure.high - figure.value));
  }
  std::string extra = figure_text(figure);
  if (figure.measure == "latency") {
    if (!one.quality.empty()) extra += "\n" + one.quality;
    if (one.verdict) extra += "\n" + verdict_text(one);
  }
  json["extra"] = extra;
  return json;
}

ExportedText action_export(const ExportedRecord& record, const ExportOptions& /*options*/) {
  ExportedText result;
  ordered_json entries = ordered_json::array();
  for (const ExportedCase& one : record.cases) {
    const std::size_t before = entries.size();
    for (const ExportedFigure& figure : one.figures) {
      if (figure.kind == FigureKind::compared) continue;  // the action cannot divide by a change below 0
      entries.push_back(action_entry(one, figure));
    }
    if (entries.size() == before) {
      result.left_out.push_back({one.name, why_left_out(one, "it has no figure"), is_failure(one.status)});
    }
  }
  result.written = entries.size();
  result.text = json_text(entries);
  return result;
}

// LNT's report format 2, for its test suite 'nts': https://llvm.org/docs/lnt/importing_data.html
// That suite has no metric for a counter or a prediction, and LNT refuses a metric that its suite does not have.

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
      std::vector<double> seconds = samples_or_value(*latency);
      for (double& ns : seconds) ns /= 1e9;
      test["execution_time"] = seconds;
    }
    test["execution_status"] = latency == nullptr ? kFail : kPass;
    tests.push_back(std::move(test));
  }
  result.written = tests.size();
  result.text = json_text({{"format_version", "2"},
                           {"machine", lnt_machine(record.context)},
                           {"run", lnt_run(record)},
                           {"tests", std::move(tests)}});
  return result;
}

// Conbench's benchmark results, one for each figure: https://conbench.github.io/conbench/
// Its units are those of conbench/units.py: none of them suits a counter. It takes one result per POST.

constexpr std::string_view kGitHub = "https://github.com/";
constexpr std::size_t kRunId = 32;

std::string cache_bytes(const ExportedContext& about, std::uint64_t level, std::string_view type) {
  const auto same = [&](const RecordedCache& one) { return one.level == level && (type.empty() || one.type == type); };
  const auto found = std::ranges::find_if(about.caches, same);
  return std::to_string(found == about.caches.end() ? 0 : found->bytes);
}

/// The machine's facts as texts, the way Conbench's own clients write them; 0 where the record does not give them.
ordered_json conbench_machine(const ExportedContext& about) {
  const std::string kernel = about.kernel.substr(about.kernel.rfind(' ') + 1);
  const std::size_t space = about.system.rfind(" (");
  const std::string system = about.system.substr(0, space);
  const std::size_t version = system.find_last_of(' ');
  return {{"name", about.host},
          {"architecture_name", about.imported_from.empty() ? "x86_64" : "unknown"},  // this program runs nowhere else
          {"kernel_name", kernel},
          {"os_name", version == std::string::npos ? system : system.substr(0, version)},
          {"os_version", version == std::string::npos ? "unknown" : system.substr(version + 1)},
          {"cpu_model_name", about.cpu},
          {"cpu_l1d_cache_bytes", cache_bytes(about, 1, "Data")},
          {"cpu_l1i_cache_bytes", cache_bytes(about, 1, "Instruction")},
          {"cpu_l2_cache_bytes", cache_bytes(about, 2, {})},
          {"cpu_l3_cache_bytes", cache_bytes(about, 3, {})},
          {"cpu_core_count", std::to_string(about.cores)},
          {"cpu_thread_count", std::to_string(about.threads)},
          {"cpu_frequency_max_hz", "0"},
          {"memory_bytes", std::to_string(about.memory_bytes)},
          {"gpu_count", std::to_string(about.gpus.size())},
          {"gpu_product_names", about.gpus}};
}

ordered_json conbench_tags(const ExportedCase& one, std::string_view measure) {
  ordered_json tags = {{"name", one.variant.empty() ? one.name : one.variant}};
  const std::pair<const char*, std::string> parts[] = {{"device", one.device},
                                                       {"network", one.network},
                                                       {"layer", one.layer},
                                                       {"batch", one.batch},
                                                       {"measure", std::string(measure)}};
  for (const auto& [key, value] : parts) {
    if (!value.empty()) tags[key] = value;
  }
  return tags;
}

/// The part of a result that does not depend on the outcome; `figure` is nullptr for a case that failed.
ordered_json conbench_result(const ExportedRecord& record, const ExportedCase& one, const ExportedFigure* figure,
                             const ExportOptions& options) {
  const ExportedContext& about = record.context;
  const std::string run = about.sha256.substr(0, kRunId);
  ordered_json json = {{"run_id", run},
                       {"run_tags", {{"name", fmt::format("{} {}", about.kind, about.date)}}},
                       {"run_reason", "commit"},
                       {"batch_id", run},
                       {"timestamp", about.date},
                       {"machine_info", conbench_machine(about)},
                       {"tags", conbench_tags(one, figure == nullptr ? "latency" : figure->measure)},
                       {"context",
                        {{"program", about.program},
                         {"compiler", about.compiler},
                         {"compiler_flags", about.compiler_flags},
                         {"build_type", about.build_type}}},
                       {"github", {{"repository", options.repository}}}};
  // A commit that differs from the code that was measured would be a lie: Conbench compares along commits.
  if (about.commit != "unknown" && !about.dirty) json["github"]["commit"] = about.commit;
  ordered_json info = {{"case", one.name}, {"record_sha256", about.sha256}};
  if (about.dirty) info["uncommitted_changes_after"] = about.commit;
  if (!one.quality.empty()) info["quality"] = one.quality;
  if (figure != nullptr) {
    info["kind"] = figure_kind_name(figure->kind);
    info["figure"] = figure_text(*figure);
    if (figure->low && figure->high) {
      info["interval_low"] = fmt::format("{}", *figure->low);
      info["interval_high"] = fmt::format("{}", *figure->high);
    }
  }
  if (one.verdict) {
    info["verdict"] = one.verdict->verdict;
    if (!one.verdict->reason.empty()) info["verdict_reason"] = one.verdict->reason;
  }
  json["info"] = std::move(info);
  return json;
}

ordered_json conbench_figure(const ExportedRecord& record, const ExportedCase& one, const ExportedFigure& figure,
                             const ExportOptions& options) {
  ordered_json json = conbench_result(record, one, &figure, options);
  json["stats"] = {{"data", samples_or_value(figure)},
                   {"unit", figure.unit},
                   {"times", ordered_json::array()},  // for figures that are no times
                   {"time_unit", figure.unit},
                   {"iterations", figure.iterations}};
  if (one.verdict && figure.measure == "latency") {
    const bool changed = has_verdict(one, CaseVerdict::regressed) || has_verdict(one, CaseVerdict::improved);
    json["change_annotations"] = {{"begins_distribution_change", changed}};
  }
  return json;
}

ExportedText conbench_export(const ExportedRecord& record, const ExportOptions& options) {
  if (!options.repository.starts_with(kGitHub) || options.repository.size() == kGitHub.size()) {
    throw UserError("conbench needs --repository https://github.com/OWNER/NAME: it takes no result without one");
  }
  if (record.context.date == "unknown") {
    throw UserError("conbench takes no result without a date, and the record says none");
  }
  ExportedText result;
  ordered_json results = ordered_json::array();
  for (const ExportedCase& one : record.cases) {
    const std::size_t before = results.size();
    for (const ExportedFigure& figure : one.figures) {
      if (figure.unit == "ns") results.push_back(conbench_figure(record, one, figure, options));
    }
    if (results.size() == before && is_failure(one.status)) {
      results.push_back(conbench_result(record, one, nullptr, options));
      results.back()["error"] = {{"status", fmt::format("{}", one.status)}, {"reason", one.reason}};
    }
    if (results.size() == before) {
      result.left_out.push_back({one.name, why_left_out(one, "Conbench has no unit for what was counted"), false});
    }
  }
  result.written = results.size();
  result.text = json_text(results);
  return result;
}

// Google Benchmark's JSON, written by its own reporter, with the record's machine and date in place of this process's.

ordered_json google_context(const ExportedContext& about) {
  ordered_json caches = ordered_json::array();
  for (const RecordedCache& one : about.caches) {
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
    added.samples = samples_or_value(*latency);
    added.iterations = latency->iterations;
    added.label = verdict_text(one);
  }
  result.written = cases.size();
  ordered_json json = parse_json(google_json_text(cases, false), "Google Benchmark's reporter", "its JSON");
  json["context"] = google_context(record.context);
  result.text = json_text(json);
  return result;
}

// SARIF 2.1.0, which GitHub shows at the lines of a pull request:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
// A result for each finding, and for each case that has not passed.

constexpr const char* kSarifSchema = "https://json.schemastore.org/sarif-2.1.0.json";

const char* level_name(FindingLevel level) {
  return level == FindingLevel::error ? "error" : level == FindingLevel::warning ? "warning" : "note";
}

/// The words of a verdict or a status as the id of a rule: "does-not-compile".
std::string rule_id(std::string_view words) {
  std::string id(words);
  std::ranges::replace(id, ' ', '-');
  return id;
}

std::string rule_text(const std::string& id) {
  static const std::map<std::string, const char*> kTexts = {
      {"memcheck", "An access outside of memory that is allocated, a misaligned one, or memory that is never freed"},
      {"initcheck", "A read of memory that was never written"},
      {"racecheck", "Two threads access the same memory in no defined order, and one of them writes"},
      {"synccheck", "A barrier that not all of its threads reach"},
      {"ordercheck", "A result that is another one when the work goes on in another order"},
      {"failed-call", "A call of CUDA that did not succeed"},
      {"regressed", "It is slower than before, beyond what chance explains"},
      {"inconclusive", "Too noisy to tell whether it is slower"},
      {"incorrect", "A result is wrong"},
      {"unsafe", "Its results are right, and a checker has a finding all the same"}};
  for (const simulated::LintWords& lint : simulated::kLintKinds) {
    if (id == kLintRule + std::string(lint.word)) return std::string(lint.text);
  }
  const auto found = kTexts.find(id);
  return found == kTexts.end() ? id : found->second;
}

/// A path as a URI: all but letters, digits and some marks as "%20".
std::string uri_path(std::string_view path) {
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = std::isalnum(byte) != 0 || std::string_view("/-_.~").find(c) != std::string_view::npos;
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

/// The runs's results and the rules that they name.
class SarifResults {
 public:
  explicit SarifResults(const ExportOptions& options)
      : files_(options.sources.empty() ? std::filesystem::current_path() : std::filesystem::path(options.sources)),
        at_(options.at) {
    if (at_.empty()) return;
    if (!files_.below(at_))
      throw UserError(fmt::format("--at {}: no file below the folder of sources", printable(at_)));
    const std::filesystem::path folder = options.sources.empty() ? "." : options.sources;
    lines_ = split(read_file_text((folder / *files_.below(at_)).string()), '\n');
  }

  void add(const ExportedCase& one, const ExportedFinding& finding) {
    std::vector<ordered_json> places;
    for (const ExportedPlace& place : finding.places) {
      if (ordered_json json = location(place); !json.is_null()) places.push_back(std::move(json));
    }
    ordered_json first = places.empty() ? unknown_place(one) : places.front();
    first.erase("message");
    first["logicalLocations"] = logical(one);
    ordered_json& result = begin(finding.rule, level_name(finding.level), finding.text, std::move(first));
    for (std::size_t i = 1; i < places.size(); ++i) result["relatedLocations"].push_back(places[i]);
  }

  void add(const ExportedCase& one, const Judgement& outcome) {
    const char* const level = outcome.outcome == Outcome::undecided ? "note" : "error";
    const std::string text =
        fmt::format("{}: {}{}{}", one.name, outcome.word, outcome.text.empty() ? "" : ": ", outcome.text);
    ordered_json place = unknown_place(one);
    place["logicalLocations"] = logical(one);
    ordered_json& result = begin(rule_id(outcome.word), level, text, std::move(place));
    result["partialFingerprints"] = {{"case/v1", sha256_hex(one.name + '\n' + std::string(outcome.word))}};
  }

  const ordered_json& results() const { return results_; }
  const ordered_json& rules() const { return rules_; }

 private:
  static ordered_json logical(const ExportedCase& one) {
    return ordered_json::array({{{"fullyQualifiedName", one.name}}});
  }

  /// The line of `at` that has the case's name, or the first; empty without such a file.
  ordered_json unknown_place(const ExportedCase& one) {
    if (at_.empty()) return ordered_json::object();
    const auto named =
        std::ranges::find_if(lines_, [&](const std::string& line) { return line.find(one.name) != std::string::npos; });
    return location({"", at_, named == lines_.end() ? 1 : static_cast<int>(named - lines_.begin()) + 1});
  }

  /// Null for a file that does not lie below the folder.
  ordered_json location(const ExportedPlace& place) {
    const std::optional<std::string> path = files_.below(place.file);
    if (!path) return nullptr;
    ordered_json json = {{"physicalLocation",
                          {{"artifactLocation", {{"uri", uri_path(*path)}, {"uriBaseId", "%SRCROOT%"}}},
                           {"region", {{"startLine", place.line}}}}}};
    if (!place.what.empty()) json["message"] = {{"text", place.what}};
    return json;
  }

  ordered_json& begin(const std::string& rule, const char* level, const std::string& text, ordered_json place) {
    const auto same = [&](const ordered_json& one) { return one.at("id") == rule; };
    const auto found = std::ranges::find_if(rules_, same);
    const auto index = static_cast<std::size_t>(found - rules_.begin());
    if (found == rules_.end()) rules_.push_back({{"id", rule}, {"shortDescription", {{"text", rule_text(rule)}}}});
    results_.push_back({{"ruleId", rule},
                        {"ruleIndex", index},
                        {"level", level},
                        {"message", {{"text", text}}},
                        {"locations", ordered_json::array({std::move(place)})}});
    return results_.back();
  }

  SourceFiles files_;
  std::string at_;
  std::vector<std::string> lines_;  ///< of that file
  ordered_json results_ = ordered_json::array();
  ordered_json rules_ = ordered_json::array();
};

ExportedText sarif_export(const ExportedRecord& record, const ExportOptions& options) {
  ExportedText result;
  SarifResults results(options);
  for (const ExportedCase& one : record.cases) {
    for (const ExportedFinding& finding : one.findings) results.add(one, finding);
    const Judgement outcome = outcome_of(one);
    if (outcome.outcome == Outcome::skipped) {
      result.left_out.push_back({one.name, why_left_out(one, std::string(outcome.word))});
      continue;
    }
    ++result.written;
    const bool is_told = outcome.word == status_name(Status::unsafe) && !one.findings.empty();  // by what makes it so
    if (outcome.outcome != Outcome::passed && !is_told) results.add(one, outcome);
  }
  ordered_json driver = {{"name", "convladder"}, {"rules", results.rules()}};
  const std::string& program = record.context.program;  // "convladder 0.1.0"
  if (const std::size_t space = program.rfind(' '); space != std::string::npos && program != "unknown unknown") {
    driver["semanticVersion"] = program.substr(space + 1);
  }
  result.text = json_text(
      {{"$schema", kSarifSchema},
       {"version", "2.1.0"},
       {"runs", ordered_json::array(
                    {{{"tool", {{"driver", std::move(driver)}}},
                      {"automationDetails", {{"id", fmt::format("convladder/{}/", rule_id(record.context.kind))}}},
                      {"columnKind", "utf16CodeUnits"},
                      {"results", results.results()}}})}});
  return result;
}

const ExportFormatRegistration bencher_registration({"bencher", bencher_export});
const ExportFormatRegistration action_registration({"github-action-benchmark", action_export});
const ExportFormatRegistration lnt_registration({"lnt", lnt_export});
const ExportFormatRegistration conbench_registration({"conbench", conbench_export});
const ExportFormatRegistration google_registration({"google", google_export});
const ExportFormatRegistration sarif_registration({"sarif", sarif_export});

}  // namespace
}  // namespace convladder
