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
#include "support/text_table.hpp"

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

std::string expectation_lines(const SimulationReport& report) {
  std::string lines;
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
    lines += hanging(fmt::format("  {}: ", printable(outcome.name)), text);
  }
  return lines;
}

bool all_met(const SimulationReport& report) {
  return std::ranges::all_of(report.expectations, &ExpectationOutcome::met);
}

std::string finding_lines(const SimulationReport& report) {
  std::string lines;
  for (const simulated::Finding& finding : report.findings) {
    lines += fmt::format("  {}\n", printable(simulated::to_text(finding)));
  }
  if (!report.fault.empty()) lines += fmt::format("  the kernel was stopped: {}\n", printable(report.fault));
  return lines;
}

std::string counter_lines(const std::vector<KernelCounters>& launches) {
  std::string lines;
  for (const KernelCounters& launch : launches) {
    lines += "\ncounters\n";
    std::size_t zeros = 0;
    for (const auto* values : {&launch.values, &launch.modelled}) {
      for (const auto& [name, value] : *values) {
        if (value != 0) {
          lines += fmt::format("  {:<72} {:>20}\n", name, counter_text(name, value));
        } else {
          ++zeros;
        }
      }
    }
    if (zeros > 0) lines += fmt::format("  and {} at 0\n", plural(zeros, "counter"));
  }
  return lines;
}

}  // namespace

std::string counter_text(std::string_view name, double value) {
  if (!name.ends_with(".sum")) return fmt::format("{:.3f}", value);
  const std::string digits = fmt::format("{}", static_cast<std::uint64_t>(value));
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string launch_title(const SimulationReport& report) {
  const std::string shared =
      report.dynamic_shared_bytes > 0 ? fmt::format(", {} bytes of shared memory", report.dynamic_shared_bytes) : "";
  return fmt::format("{}: {}x{}x{} blocks of {}x{}x{} threads{}", printable(report.display_name), report.grid.x,
                     report.grid.y, report.grid.z, report.block.x, report.block.y, report.block.z, shared);
}

std::string printed_text(const SimulationReport& report) {
  std::string rest;
  if (report.printed.empty()) return "";
  return fmt::format("\nprinted by the kernel\n{}", printable_lines(report.printed, rest));
}

std::string remarks_text(const SimulationReport& report) {
  std::string text;
  if (!all_met(report)) text += expectation_lines(report);
  if (!report.stopped.empty()) text += fmt::format("  stopped {}\n", printable(report.stopped));
  return text + finding_lines(report);
}

std::string report_text(const SimulationReport& report) {
  std::string text = launch_title(report) + '\n';
  for (const BufferContent& buffer : report.buffers) {
    if (!buffer.is_result) continue;
    text += fmt::format("\n{}: {}[{}]\n  {}\n", printable(buffer.name), element_name(buffer.type),
                        fmt::join(buffer.shape, "x"), shown_values(buffer));
  }
  text += report.is_counted ? counter_lines(report.counters) : "\ncounters: nothing was counted (--no-counters)\n";
  if (!report.expectations.empty()) {
    text += fmt::format("\nexpectations{}\n{}", all_met(report) ? ": met" : "", expectation_lines(report));
  }
  text += printed_text(report);
  if (!report.stopped.empty()) text += fmt::format("\nstopped {}\n", printable(report.stopped));
  const std::string found = finding_lines(report);
  return text + fmt::format("\nfindings{}\n{}", found.empty() ? ": none" : "", found);
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
