#include "simulator/state/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "devices/kernel_resources.hpp"

namespace convladder::simulated {

std::string_view checker_name(Checker checker) {
  switch (checker) {
    case Checker::memory:
      return "memcheck";
    case Checker::initialization:
      return "initcheck";
    case Checker::race:
      return "racecheck";
    case Checker::order:
      return "ordercheck";
    case Checker::synchronization:
      break;
  }
  return "synccheck";
}

std::string_view severity_name(Severity severity) { return severity == Severity::finding ? "finding" : "note"; }

std::size_t count_findings(std::span<const Finding> findings) {
  return static_cast<std::size_t>(std::ranges::count(findings, Severity::finding, &Finding::severity));
}

namespace {

/// The problem without what differs from one instruction of a statement to the next: numbers, but for lines, and the
/// sizes of vectors.
std::string kind_of_problem(std::string_view problem) {
  constexpr std::string_view kLine = "line ";
  std::string kind;
  for (std::size_t i = 0; i < problem.size();) {
    if (std::isdigit(static_cast<unsigned char>(problem[i])) == 0) {
      kind += problem[i++];
      continue;
    }
    std::size_t end = i;
    while (end < problem.size() && std::isalnum(static_cast<unsigned char>(problem[end])) != 0) ++end;
    const bool is_line = kind.ends_with(kLine);
    const bool is_vector = kind.ends_with(".v");
    if (is_line) {
      kind += problem.substr(i, end - i);
    } else if (is_vector) {
      kind.resize(kind.size() - 2);
    } else {
      kind += '#';
    }
    i = end;
  }
  return kind;
}

}  // namespace

bool are_of_one_statement(const Finding& one, const Finding& other) {
  const auto same = [&](auto... members) { return ((one.*members == other.*members) && ...); };
  if (!same(&Finding::checker, &Finding::severity, &Finding::kernel, &Finding::allocation, &Finding::space,
            &Finding::source_line)) {
    return false;
  }
  const bool is_one_place = one.source_line > 0 ? same(&Finding::source_file, &Finding::callers)
                                                : one.ptx_line > 0 && same(&Finding::ptx_line, &Finding::opcode);
  return is_one_place && kind_of_problem(one.problem) == kind_of_problem(other.problem);
}

std::string configured_name(const std::string& kernel, const std::string& configuration) {
  return configuration.empty() ? kernel : fmt::format("{}[{}]", kernel, configuration);
}

std::string callers_text(const Finding& finding) {
  std::string text;
  for (const SourcePlace& caller : finding.callers) {
    text += fmt::format("{}{}", text.empty() ? "called from " : ", ", place_text(caller));
  }
  return text;
}

std::string kernel_text(const Finding& finding) {
  const std::string kernel = configured_name(display_name(finding.kernel), finding.configuration);
  if (finding.source_line == 0) return fmt::format("{}, PTX line {}", kernel, finding.ptx_line);
  return fmt::format("{}, {} line {}", kernel, finding.source_file, finding.source_line);
}

std::string place_text(const Finding& finding) {
  std::string source =
      finding.source_line > 0 ? fmt::format(", {} line {}", finding.source_file, finding.source_line) : "";
  if (!finding.callers.empty()) source += fmt::format(" ({})", callers_text(finding));
  return fmt::format("'{}' in {}, PTX line {}{}, block ({}, {}, {}), thread ({}, {}, {})", finding.opcode,
                     configured_name(display_name(finding.kernel), finding.configuration), finding.ptx_line, source,
                     finding.block.x, finding.block.y, finding.block.z, finding.thread.x, finding.thread.y,
                     finding.thread.z);
}

std::string heading_text(const Finding& finding) {
  return fmt::format("{}{}", checker_name(finding.checker), finding.severity == Severity::note ? ", a note" : "");
}

std::string to_text(const Finding& finding) {
  const std::string problem = fmt::format("{}: {}", heading_text(finding), finding.problem);
  if (finding.kernel.empty()) return problem;
  const std::string times = finding.count > 1 ? fmt::format(" ({} times)", finding.count) : "";
  return fmt::format("{}: {}{}", problem, place_text(finding), times);
}

}  // namespace convladder::simulated
