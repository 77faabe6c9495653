#include "harness/judge/serving/verdict.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>

#include "harness/measure/records/case_json.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLongestFinding = 600;  // bytes
constexpr std::size_t kMostCompilerFindings = 20;
/// The fields of a case in a run's record that an answer has. The record's others are for machines and shapes that the
/// client does not choose, and are long.
constexpr std::array<const char*, 7> kFields{"device",   "reason", "verification", "time",
                                             "counters", "choice", "quality"};

/// A line number at the begin of the text and what must follow it; none for anything else.
std::optional<int> number_before(std::string_view text, char end) {
  int number = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || at == text.data() + text.size() || *at != end || number < 1) return std::nullopt;
  return number;
}

/// Takes "FILE:LINE:" of g++ and clang++ or "FILE(LINE):" of nvcc off the begin of a message.
void take_place(std::string_view message, VerdictFinding& finding) {
  for (const auto& [begin, end] : {std::pair{':', ':'}, std::pair{'(', ')'}}) {
    const std::size_t at = message.find(begin);
    if (at == std::string_view::npos || at == 0) continue;
    const std::optional<int> line = number_before(message.substr(at + 1), end);
    if (!line) continue;
    finding.file = std::filesystem::path(message.substr(0, at)).filename().string();
    finding.line = *line;
    return;
  }
}

bool is_error(std::string_view line) {
  return line.find("error:") != std::string_view::npos || line.find(": error") != std::string_view::npos ||
         line.find("undefined reference") != std::string_view::npos;
}

VerdictStatus of_checker(simulated::Checker checker) {
  switch (checker) {
    case simulated::Checker::race:
    case simulated::Checker::order:
      return VerdictStatus::race;
    case simulated::Checker::synchronization:
      return VerdictStatus::synchronization;
    case simulated::Checker::memory:
    case simulated::Checker::initialization:
      break;
  }
  return VerdictStatus::memory;
}

VerdictStatus of_status(Status status) {
  switch (status) {
    case Status::ok:
      return VerdictStatus::ok;
    case Status::incorrect:
      return VerdictStatus::wrong;
    case Status::unsupported:
      return VerdictStatus::unsupported;
    case Status::skipped:
      return VerdictStatus::unavailable;
    case Status::launch_failed:
      return VerdictStatus::launch_failed;
    case Status::crashed:
      return VerdictStatus::crashed;
    case Status::timeout:
      return VerdictStatus::timeout;
    case Status::does_not_compile:
      return VerdictStatus::compile_error;
    case Status::refused:
      return VerdictStatus::cheat;
    case Status::unsafe:  // there is a finding then
    case Status::not_judged:
      break;
  }
  return VerdictStatus::not_judged;
}

}  // namespace

std::vector<VerdictFinding> compiler_findings(const StageBuild& build) {
  std::vector<VerdictFinding> findings;
  std::set<std::string> seen;
  const auto add = [&](const std::string& line) {
    if (findings.size() == kMostCompilerFindings || !seen.insert(line).second) return;
    VerdictFinding finding{.kind = "compiler", .text = printable(line, kLongestFinding), .file = {}};
    take_place(finding.text, finding);
    findings.push_back(std::move(finding));
  };
  for (const std::string& line : split(build.messages, '\n')) {
    if (is_error(line)) add(line);
  }
  if (findings.empty()) add(build.error);
  return findings;
}

std::vector<VerdictFinding> checker_findings(const StageFindings& found) {
  std::vector<VerdictFinding> findings;
  for (const simulated::Finding& one : found.findings) {
    if (one.severity != simulated::Severity::finding) continue;
    findings.push_back({.kind = std::string(checker_name(one.checker)),
                        .text = printable(simulated::to_text(one), kLongestFinding),
                        .file = one.source_file,
                        .line = one.source_line});
  }
  return findings;
}

VerdictStatus verdict_of(const CaseOutcome& outcome, const std::vector<simulated::Finding>& found) {
  const VerdictStatus status = of_status(outcome.status);
  // The finding is the cause of a wrong result or a failed launch, and says more.
  const bool can_be_caused = outcome.status == Status::unsafe || status == VerdictStatus::wrong ||
                             status == VerdictStatus::launch_failed || status == VerdictStatus::crashed;
  const auto first = std::ranges::find(found, simulated::Severity::finding, &simulated::Finding::severity);
  if (can_be_caused && first != found.end()) return of_checker(first->checker);
  return outcome.is_memory_violation && status == VerdictStatus::wrong ? VerdictStatus::memory : status;
}

ordered_json judged_size_json(const PlannedCase& planned, const CaseOutcome& outcome, VerdictStatus status) {
  const ordered_json whole = case_json(planned, outcome);
  ordered_json json = {{"size", planned.work.layer}, {"status", verdict_name(status)}};
  for (const char* const field : kFields) json[field] = whole.at(field);
  return json;
}

ordered_json verdict_json(const ServedVerdict& verdict) {
  ordered_json findings = ordered_json::array();
  for (const VerdictFinding& one : verdict.findings) {
    findings.push_back({{"kind", one.kind},
                        {"text", one.text},
                        {"file", text_or_null(one.file)},
                        {"line", one.line > 0 ? ordered_json(one.line) : ordered_json()}});
  }
  return {{"status", verdict_name(verdict.status)},
          {"reason", text_or_null(verdict.reason)},
          {"findings", std::move(findings)},
          {"sizes", verdict.sizes},
          {"seconds",
           {{"waiting", verdict.waiting_seconds},
            {"compile", verdict.compile_seconds},
            {"verdict", verdict.verdict_seconds}}}};
}

}  // namespace convladder
