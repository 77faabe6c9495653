#include "harness/measure/simulation/simulation_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "datasets/npy_file.hpp"
#include "harness/measure/simulation/simulation_json.hpp"
#include "support/errors.hpp"
#include "support/printable.hpp"
#include "support/report.hpp"
#include "support/text.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr std::size_t kShownValues = 8;  // at the beginning and at the end of a buffer

std::size_t elements(const BufferContent& buffer) { return buffer.bytes.size() / element_bytes(buffer.type); }

std::string shown_values(const BufferContent& buffer) {
  const std::size_t count = elements(buffer);
  const auto text = [&buffer](std::size_t i) {
    return element_text(buffer.type, buffer.bytes.data() + i * element_bytes(buffer.type));
  };
  const bool cut = count > 2 * kShownValues + 1;
  std::string line;
  for (std::size_t i = 0; i < count; ++i) {
    if (cut && i == kShownValues) {
      i = count - kShownValues;
      line += " …";
    }
    if (!line.empty()) line += ' ';
    line += text(i);
  }
  return line;
}

void add_expectations(ReportSection& section, const SimulationReport& report) {
  for (const ExpectationOutcome& outcome : report.expectations) {
    const std::string largest = outcome.largest_difference == 0
                                    ? ""
                                    : fmt::format(", the largest difference is {:.3g}", outcome.largest_difference);
    const std::string text =
        outcome.met()
            ? fmt::format("{} as expected{}", plural(outcome.elements, "value"), largest)
            : fmt::format("{} of {} {} wrong; the first is [{}]: expected {}, found {}{}", outcome.wrong,
                          plural(outcome.elements, "value"), outcome.wrong == 1 ? "is" : "are",
                          fmt::join(outcome.first_index, ", "), outcome.first_expected, outcome.first_found, largest);
    section.paragraph(text, fmt::format("  {}: ", printable(outcome.name)));
  }
}

bool all_met(const SimulationReport& report) {
  return std::ranges::all_of(report.expectations, &ExpectationOutcome::met);
}

std::string lines_of(const SimulationReport& report, simulated::Severity severity) {
  std::string lines;
  for (const simulated::Finding& finding : report.findings) {
    if (finding.severity == severity) lines += fmt::format("  {}\n", printable(simulated::to_text(finding)));
  }
  return lines;
}

/// Adds the lines one by one, so that of very many only the first are shown.
void add_lines(ReportSection& section, const std::string& lines) {
  for (const std::string& line : split(lines, '\n')) {
    if (!line.empty()) section.literal(line + '\n');
  }
}

std::string finding_lines(const SimulationReport& report) {
  std::string lines = lines_of(report, simulated::Severity::finding);
  if (!report.fault.empty()) lines += fmt::format("  the kernel was stopped: {}\n", printable(report.fault));
  return lines;
}

/// The outcome of other orders, in a line; empty if nobody asked.
std::string orders_line(const SimulationReport& report) {
  if (report.orders.empty()) return {};
  const std::string took = report.orders.launches > 0 ? ", in " + time_text(report.orders.seconds * 1e9) : "";
  return fmt::format("orders: {}{}\n", printable(simulated::to_text(report.orders)), took);
}

void add_counters(Report& report, const std::vector<KernelCounters>& launches) {
  for (const KernelCounters& launch : launches) {
    ReportSection& section = report.section("counters");
    std::size_t zeros = 0;
    for (const auto* values : {&launch.values, &launch.modelled}) {
      for (const auto& [name, value] : *values) {
        if (value != 0) {
          section.literal(fmt::format("  {:<72} {:>20}\n", name, counter_text(name, value)));
        } else {
          ++zeros;
        }
      }
    }
    if (zeros > 0) section.paragraph(fmt::format("and {} at 0", plural(zeros, "counter")), "  ");
  }
}

}  // namespace

std::string counter_text(std::string_view name, double value) {
  if (!name.ends_with(".sum")) return fmt::format("{:.3f}", value);
  return grouped_number(value);
}

std::string launch_title(const SimulationReport& report) {
  const std::string shared =
      report.dynamic_shared_bytes > 0 ? fmt::format(", {} bytes of shared memory", report.dynamic_shared_bytes) : "";
  return fmt::format("{}: {}x{}x{} blocks of {}x{}x{} threads{}", printable(report.display_name), report.grid.x,
                     report.grid.y, report.grid.z, report.block.x, report.block.y, report.block.z, shared);
}

void add_printed(Report& report, const SimulationReport& simulated) {
  std::string rest;
  if (simulated.printed.empty()) return;
  report.section("printed by the kernel").literal(printable_lines(simulated.printed, rest));
}

void add_remarks(ReportSection& section, const SimulationReport& report) {
  if (!all_met(report)) add_expectations(section, report);
  std::string lines = report.stopped.empty() ? "" : fmt::format("  stopped {}\n", printable(report.stopped));
  lines += orders_line(report) + finding_lines(report) + lines_of(report, simulated::Severity::note);
  if (!lines.empty()) section.literal(lines);
}

Report simulation_report(const SimulationReport& simulated) {
  Report report;
  report.section().literal(launch_title(simulated) + '\n');
  if (!simulated.stopped.empty()) report.section().literal(fmt::format("stopped {}\n", printable(simulated.stopped)));
  if (const std::string line = orders_line(simulated); !line.empty()) report.section().literal(line);
  const std::string found = finding_lines(simulated);
  add_lines(report.section(found.empty() ? "findings: none" : "findings"), found);
  const std::string notes = lines_of(simulated, simulated::Severity::note);
  if (!notes.empty()) add_lines(report.section("notes, which are no findings"), notes);
  if (!simulated.expectations.empty()) {
    add_expectations(report.section(all_met(simulated) ? "expectations: met" : "expectations"), simulated);
  }
  for (const BufferContent& buffer : simulated.buffers) {
    if (!buffer.is_result) continue;
    report.section().literal(fmt::format("{}: {}[{}]\n  {}\n", printable(buffer.name), element_name(buffer.type),
                                         fmt::join(buffer.shape, "x"), shown_values(buffer)));
  }
  for (const KernelLines& lines : simulated.lines) add_lines(report, lines);
  if (simulated.is_counted) {
    add_counters(report, simulated.counters);
  } else {
    report.section("counters: nothing was counted (--no-counters)");
  }
  add_printed(report, simulated);
  return report;
}

std::vector<std::byte> buffer_file(const BufferContent& buffer, const std::string& file) {
  if (file.ends_with(".bin")) return buffer.bytes;
  if (file.ends_with(".npy")) return npy_bytes({buffer.type, buffer.shape, buffer.bytes});
  if (!file.ends_with(".json")) throw UserError(fmt::format("{}: expected a file .bin, .npy or .json", file));
  const std::string text = buffer_json(buffer);
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

}  // namespace convladder
