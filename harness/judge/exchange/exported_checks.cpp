#include "harness/judge/exchange/exported_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "harness/measure/records/case_json.hpp"
#include "harness/measure/simulation/kernel_lints.hpp"
#include "harness/measure/simulation/program_report.hpp"
#include "simulator/state/finding.hpp"
#include "support/printable.hpp"

namespace convladder {

namespace {

constexpr const char* kCheck = "check";
constexpr const char* kSimulation = "simulation";
constexpr const char* kProgram = "simulated program";
constexpr const char* kFailedCall = "failed-call";
constexpr std::size_t kLongestCommand = 200;  // bytes of a command line

Dim3 three(const JsonPlace& place) {
  const std::vector<std::uint32_t> sizes = place.wholes<std::uint32_t>(0, 0x7fffffff, 3);
  return {sizes[0], sizes[1], sizes[2]};
}

/// A place in the source; without a file where it has none.
ExportedPlace read_place(const JsonPlace& at, const char* file, const char* line, std::string what) {
  return {std::move(what), printable(at.at(file).text_or_empty()), at.at(line).count()};
}

/// Adds the place if it is one.
void add_place(std::vector<ExportedPlace>& places, ExportedPlace place) {
  if (!place.file.empty() && place.line > 0) places.push_back(std::move(place));
}

ExportedFinding exported_finding(const JsonPlace& at) {
  const std::string checker = at.at("checker").text();
  const auto known =
      std::ranges::find(simulated::kCheckers, checker, [](simulated::Checker one) { return checker_name(one); });
  if (known == simulated::kCheckers.end()) at.at("checker").expected("a checker's name");
  const bool is_note =
      at.at("severity").text_or_empty() == simulated::severity_name(simulated::Severity::note);  // older records: none
  std::vector<simulated::SourcePlace> callers;  // older records have none
  if (at.has("callers")) {
    for (const JsonPlace& one : at.at("callers").list()) {
      callers.push_back({printable(one.at("file").text()), one.at("line").count()});
    }
  }
  const simulated::Finding finding{.checker = *known,
                                   .severity = is_note ? simulated::Severity::note : simulated::Severity::finding,
                                   .problem = printable(at.at("problem").text()),
                                   .kernel = printable(at.at("kernel").text()),
                                   .configuration = at.has("configuration")
                                                        ? printable(at.at("configuration").text_or_empty())
                                                        : std::string(),  // older records have none
                                   .opcode = printable(at.at("opcode").text()),
                                   .ptx_line = at.at("ptx_line").count(),
                                   .source_file = printable(at.at("source_file").text()),
                                   .source_line = at.at("source_line").count(),
                                   .callers = callers,
                                   .launcher = {},
                                   .block = three(at.at("block")),
                                   .thread = three(at.at("thread")),
                                   .space = {},
                                   .address = 0,
                                   .allocation = {},
                                   .count = at.at("count").whole<std::uint64_t>()};
  ExportedFinding result{.rule = checker,
                         .level = is_note ? FindingLevel::note : FindingLevel::error,
                         .text = simulated::to_text(finding),
                         .places = {}};
  add_place(result.places, read_place(at, "source_file", "source_line", ""));
  for (const simulated::SourcePlace& caller : callers) {
    add_place(result.places, {"the code is called here", caller.file, caller.line});
  }
  if (at.has("host")) {  // only of a program
    add_place(result.places,
              read_place(at.at("host"), "file", "line",
                         finding.kernel.empty() ? "the host did it here" : "the kernel is launched here"));
  }
  if (at.has("memory") && at.at("memory").has("host")) {
    const JsonPlace memory = at.at("memory");
    add_place(result.places, read_place(memory.at("host"), "file", "line",
                                        fmt::format("{} is allocated here", printable(memory.at("label").text()))));
  }
  return result;
}

bool has_error(const std::vector<ExportedFinding>& findings) {
  return std::ranges::find(findings, FindingLevel::error, &ExportedFinding::level) != findings.end();
}

/// A case of `check`: a kernel from the PTX of one compiler.
ExportedCase of_checked(const JsonPlace& at) {
  ExportedCase one;
  const std::string id = at.at("id").name();
  one.name = fmt::format("{} ({})", id, at.at("ptx_compiler").name());
  one.device = id.substr(0, id.find('/'));
  one.status = read_status(at.at("status"));
  one.reason = printable(at.at("reason").text_or_empty());
  one.findings = exported_findings(at.at("findings"));
  if (one.status == Status::ok && has_error(one.findings)) one.status = Status::unsafe;
  return one;
}

/// A launch of a kernel by `simulate FILE`.
ExportedCase of_launch(const JsonPlace& at) {
  ExportedCase one;
  one.device = "simulated";
  one.variant = printable(at.at("display_name").text());
  one.name = at.has("file") ? fmt::format("{}: {}", printable(at.at("file").text()), one.variant) : one.variant;
  one.findings = exported_findings(at.at("findings"));
  std::vector<std::string> wrong;
  for (const JsonPlace& expectation : at.at("expectations").list()) {
    if (!expectation.at("met").truth()) wrong.push_back(printable(expectation.at("expectation").text()));
  }
  if (at.has("fault")) {
    one.status = Status::launch_failed;
    one.reason = printable(at.at("fault").text());
  } else if (at.has("stopped")) {
    one.status = Status::timeout;
    one.reason = printable(at.at("stopped").text());
  } else if (!wrong.empty()) {
    one.status = Status::incorrect;
    one.reason = fmt::format("not as expected: {}", fmt::join(wrong, ", "));
  } else if (has_error(one.findings)) {
    one.status = Status::unsafe;
  }
  return one;
}

/// "./program -n 3": a process by its arguments, of which the first is the program as it was called.
std::string process_name(const JsonPlace& at) {
  const std::vector<std::string> words = at.at("arguments").texts();
  return printable(words.empty() ? at.at("program").text() : fmt::format("{}", fmt::join(words, " ")), kLongestCommand);
}

ExportedCase of_process(const JsonPlace& at) {
  ExportedCase one;
  one.device = "simulated";
  one.name = process_name(at);
  one.findings = exported_findings(at.at("findings"));
  std::vector<std::string> not_run;
  for (const JsonPlace& failure : at.at("failures").list()) {
    const int count = failure.at("count").count();
    const std::string text = failure.at("text").text();
    ExportedFinding call{.rule = kFailedCall,
                         .level = FindingLevel::warning,
                         .text = printable(fmt::format("{} answers {}{}{}{}", failure.at("call").text(),
                                                       failure.at("name").text(), text.empty() ? "" : ": ", text,
                                                       count > 1 ? fmt::format(" ({} times)", count) : "")),
                         .places = {}};
    if (failure.has("host")) add_place(call.places, read_place(failure.at("host"), "file", "line", ""));
    if (is_refused_kernel(failure.at("call").text(), failure.at("name").text())) not_run.push_back(call.text);
    one.findings.push_back(std::move(call));
  }
  if (at.has("signal")) {
    one.status = Status::crashed;
    one.reason = printable(at.at("signal").text());
  } else if (has_error(one.findings)) {
    one.status = Status::unsafe;
  } else if (!not_run.empty()) {
    one.status = Status::not_judged;
    one.reason = fmt::format("a kernel could not be run: {}", not_run.front());
  }
  return one;
}

/// The program as it was started, each process that reported, and each that did not.
std::vector<ExportedCase> of_program(const JsonPlace& place) {
  ExportedCase whole;
  whole.device = "simulated";
  whole.name = fmt::format("exit code of {}",
                           printable(fmt::format("{}", fmt::join(place.at("command").texts(), " ")), kLongestCommand));
  const std::vector<std::string> remarks = place.at("remarks").texts();
  if (place.has("signal")) {
    whole.status = Status::crashed;
    whole.reason = printable(place.at("signal").text());
  } else if (const int code = place.at("exit_code").whole(-1, 255); code != 0) {
    whole.status = Status::incorrect;
    whole.reason = fmt::format("it exits with {}", code);
  } else if (place.at("processes").list().empty()) {
    whole.status = Status::not_judged;
    whole.reason = printable(fmt::format("{}", fmt::join(remarks, "; ")));
  }
  std::vector<ExportedCase> cases{std::move(whole)};
  for (const JsonPlace& process : place.at("processes").list()) cases.push_back(of_process(process));
  for (const JsonPlace& silent : place.at("ended_without_report").list()) {
    ExportedCase one;
    one.device = "simulated";
    one.name = process_name(silent);
    one.status = Status::not_judged;
    one.reason = "it ended without a report: what it did is not known";
    cases.push_back(std::move(one));
  }
  return cases;
}

ExportedFinding exported_lint(const JsonPlace& at, const std::string& kernel) {
  const bool is_wrong = at.at("severity").text() == simulated::severity_name(simulated::Severity::finding);
  ExportedFinding lint{.rule = kLintRule + at.at("kind").name(),
                       .level = is_wrong ? FindingLevel::error : FindingLevel::note,
                       .text = fmt::format("{}: {}", kernel, printable(at.at("problem").text())),
                       .places = {}};
  for (const JsonPlace& place : at.at("places").list()) {
    add_place(lint.places, read_place(place, "file", "line", lint.places.empty() ? "" : "the code is called here"));
  }
  return lint;
}

/// The kernels of files that `check` has looked at.
std::vector<ExportedCase> of_lints(const JsonPlace& place) {
  std::vector<ExportedCase> cases;
  for (const JsonPlace& file : place.at("files").list()) {
    for (const JsonPlace& kernel : file.at("kernels").list()) {
      ExportedCase& one = cases.emplace_back();
      one.variant = printable(kernel.at("name").text());
      one.name = fmt::format("{}: {}", printable(file.at("file").text()), one.variant);
      for (const JsonPlace& lint : kernel.at("lints").list()) one.findings.push_back(exported_lint(lint, one.variant));
      if (kernel.has("not_looked_at")) {
        one.status = Status::not_judged;
        one.reason = printable(kernel.at("not_looked_at").text());
      } else if (has_error(one.findings)) {
        one.status = Status::unsafe;
      }
    }
  }
  return cases;
}

/// Numbers the second of two cases of the same name.
void number_same_names(std::vector<ExportedCase>& cases) {
  std::unordered_map<std::string, int> seen;
  for (ExportedCase& one : cases) {
    if (const int before = seen[one.name]++; before > 0) one.name += fmt::format(" #{}", before + 1);
  }
}

}  // namespace

std::string kind_of_checks(const JsonPlace& place) {
  if (place.is_list()) {
    const std::vector<JsonPlace> cases = place.list();
    return !cases.empty() && cases.front().has("ptx_compiler") ? kCheck : "";
  }
  if (place.has("kind")) {
    const std::string kind = place.at("kind").text();
    return kind == kProgram || kind == kLintsKind ? kind : "";
  }
  return place.has("simulations") || (place.has("kernel") && place.has("findings")) ? kSimulation : "";
}

std::vector<ExportedFinding> exported_findings(const JsonPlace& list) {
  std::vector<ExportedFinding> findings;
  for (const JsonPlace& one : list.list()) findings.push_back(exported_finding(one));
  return findings;
}

std::vector<ExportedCase> exported_checks(const JsonPlace& place, const std::string& kind) {
  std::vector<ExportedCase> cases;
  if (kind == kProgram) {
    cases = of_program(place);
  } else if (kind == kCheck) {
    for (const JsonPlace& one : place.list()) cases.push_back(of_checked(one));
  } else if (kind == kLintsKind) {
    cases = of_lints(place);
  } else if (place.has("simulations")) {
    for (const JsonPlace& one : place.at("simulations").list()) cases.push_back(of_launch(one));
  } else {
    cases.push_back(of_launch(place));
  }
  number_same_names(cases);
  return cases;
}

}  // namespace convladder
