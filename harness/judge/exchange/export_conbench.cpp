// Conbench's benchmark results, one for each figure: https://conbench.github.io/conbench/
//
// Its units are those of conbench/units.py: none of them suits a counter. It takes one result per POST.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/exchange/export_format.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kGitHub = "https://github.com/";
constexpr std::size_t kRunId = 32;

std::uint64_t cache_bytes(const ExportedContext& about, int level, std::string_view type) {
  const auto same = [&](const ExportedCache& one) { return one.level == level && (type.empty() || one.type == type); };
  const auto found = std::ranges::find_if(about.caches, same);
  return found == about.caches.end() ? 0 : found->bytes;
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
          {"cpu_l1d_cache_bytes", std::to_string(cache_bytes(about, 1, "Data"))},
          {"cpu_l1i_cache_bytes", std::to_string(cache_bytes(about, 1, "Instruction"))},
          {"cpu_l2_cache_bytes", std::to_string(cache_bytes(about, 2, {}))},
          {"cpu_l3_cache_bytes", std::to_string(cache_bytes(about, 3, {}))},
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

ordered_json of_figure(const ExportedRecord& record, const ExportedCase& one, const ExportedFigure& figure,
                       const ExportOptions& options) {
  ordered_json json = conbench_result(record, one, &figure, options);
  const std::vector<double> samples = figure.samples.empty() ? std::vector{figure.value} : figure.samples;
  json["stats"] = {{"data", samples},
                   {"unit", figure.unit},
                   {"times", nlohmann::ordered_json::array()},  // for figures that are no times
                   {"time_unit", figure.unit},
                   {"iterations", figure.iterations}};
  if (one.verdict && figure.measure == "latency") {
    const std::string& verdict = one.verdict->verdict;
    const bool changed =
        verdict == case_verdict_name(CaseVerdict::regressed) || verdict == case_verdict_name(CaseVerdict::improved);
    json["change_annotations"] = {{"begins_distribution_change", changed}};
  }
  return json;
}

void conbench_check(const ExportedRecord& record, const ExportOptions& options) {
  if (!options.repository.starts_with(kGitHub) || options.repository.size() == kGitHub.size()) {
    throw UserError("conbench needs --repository https://github.com/OWNER/NAME: it takes no result without one");
  }
  if (record.context.date == "unknown") {
    throw UserError("conbench takes no result without a date, and the record says none");
  }
}

ExportedText conbench_export(const ExportedRecord& record, const ExportOptions& options) {
  conbench_check(record, options);
  ExportedText result;
  ordered_json results = ordered_json::array();
  for (const ExportedCase& one : record.cases) {
    const std::size_t before = results.size();
    for (const ExportedFigure& figure : one.figures) {
      if (figure.unit == "ns") results.push_back(of_figure(record, one, figure, options));
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

const ExportFormatRegistration conbench_registration({"conbench", conbench_export});

}  // namespace
}  // namespace convladder
