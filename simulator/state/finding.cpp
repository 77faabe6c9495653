#include "simulator/state/finding.hpp"

#include <fmt/format.h>

#include <algorithm>

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
    case Checker::synchronization:
      break;
  }
  return "synccheck";
}

std::string_view severity_name(Severity severity) { return severity == Severity::finding ? "finding" : "note"; }

std::size_t count_findings(std::span<const Finding> findings) {
  return static_cast<std::size_t>(std::ranges::count(findings, Severity::finding, &Finding::severity));
}

std::string place_text(const Finding& finding) {
  const std::string source =
      finding.source_line > 0 ? fmt::format(", {} line {}", finding.source_file, finding.source_line) : "";
  return fmt::format("'{}' in {}, PTX line {}{}, block ({}, {}, {}), thread ({}, {}, {})", finding.opcode,
                     display_name(finding.kernel), finding.ptx_line, source, finding.block.x, finding.block.y,
                     finding.block.z, finding.thread.x, finding.thread.y, finding.thread.z);
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
