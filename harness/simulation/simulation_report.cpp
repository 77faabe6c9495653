#include "harness/simulation/simulation_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "datasets/npy_file.hpp"
#include "harness/plan/shape_json.hpp"
#include "support/errors.hpp"
#include "support/json_null.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t kShownValues = 8;  // at the begin and at the end of a buffer

std::size_t elements(const BufferContent& buffer) { return buffer.bytes.size() / element_bytes(buffer.type); }

ordered_json values_json(const BufferContent& buffer) {
  ordered_json values = ordered_json::array();
  const std::size_t size = element_bytes(buffer.type);
  for (std::size_t at = 0; at < buffer.bytes.size(); at += size) {
    values.push_back(element_json(buffer.type, buffer.bytes.data() + at));
  }
  return values;
}

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

/// Sums with their thousands apart, ratios with three decimals.
std::string figure(std::string_view name, double value) {
  if (!name.ends_with(".sum")) return fmt::format("{:.3f}", value);
  const std::string digits = fmt::format("{}", static_cast<std::uint64_t>(value));
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

void print_counters(const std::vector<KernelCounters>& launches) {
  for (const KernelCounters& launch : launches) {
    fmt::print("\ncounters\n");
    std::size_t zeros = 0;
    for (const auto* values : {&launch.values, &launch.modelled}) {
      for (const auto& [name, value] : *values) {
        if (value != 0) {
          fmt::print("  {:<72} {:>20}\n", name, figure(name, value));
        } else {
          ++zeros;
        }
      }
    }
    if (zeros > 0) fmt::print("  and {} at 0\n", plural(zeros, "counter"));
  }
}

}  // namespace

ordered_json finding_json(const simulated::Finding& finding) {
  return {{"checker", simulated::checker_name(finding.checker)},
          {"problem", finding.problem},
          {"kernel", finding.kernel},
          {"opcode", finding.opcode},
          {"ptx_line", finding.ptx_line},
          {"source_file", finding.source_file},
          {"source_line", finding.source_line},
          {"block", dim_json(finding.block)},
          {"thread", dim_json(finding.thread)},
          {"space", finding.space},
          {"address", finding.address},
          {"allocation", finding.allocation},
          {"count", finding.count}};
}

ordered_json to_json(const SimulationReport& report) {
  ordered_json outputs = ordered_json::array();
  for (const BufferContent& buffer : report.buffers) {
    if (!buffer.is_result) continue;
    outputs.push_back({{"name", buffer.name},
                       {"type", element_name(buffer.type)},
                       {"shape", buffer.shape},
                       {"values", values_json(buffer)}});
  }
  ordered_json counters = ordered_json::object();
  for (const KernelCounters& launch : report.counters) {
    for (const auto* values : {&launch.values, &launch.modelled}) {
      for (const auto& [name, value] : *values) counters[name] = value;
    }
  }
  ordered_json findings = ordered_json::array();
  for (const simulated::Finding& finding : report.findings) findings.push_back(finding_json(finding));
  return {{"kernel", report.kernel},
          {"display_name", report.display_name},
          {"grid", dim_json(report.grid)},
          {"block", dim_json(report.block)},
          {"dynamic_shared_bytes", report.dynamic_shared_bytes},
          {"outputs", std::move(outputs)},
          {"counters", std::move(counters)},
          {"printed", text_or_null(report.printed)},
          {"findings", std::move(findings)},
          {"fault", text_or_null(report.fault)},
          {"stopped", text_or_null(report.stopped)}};
}

void print_report(const SimulationReport& report) {
  const std::string shared =
      report.dynamic_shared_bytes > 0 ? fmt::format(", {} bytes of shared memory", report.dynamic_shared_bytes) : "";
  fmt::print("{}: {}x{}x{} blocks of {}x{}x{} threads{}\n", printable(report.display_name), report.grid.x,
             report.grid.y, report.grid.z, report.block.x, report.block.y, report.block.z, shared);
  for (const BufferContent& buffer : report.buffers) {
    if (!buffer.is_result) continue;
    fmt::print("\n{}: {}[{}]\n  {}\n", buffer.name, element_name(buffer.type), fmt::join(buffer.shape, "x"),
               shown_values(buffer));
  }
  print_counters(report.counters);
  if (!report.printed.empty()) {
    std::string rest;
    fmt::print("\nprinted by the kernel\n{}", printable_lines(report.printed, rest));
  }
  if (!report.stopped.empty()) fmt::print("\nstopped {}\n", printable(report.stopped));
  fmt::print("\nfindings{}\n", report.findings.empty() && report.fault.empty() ? ": none" : "");
  for (const simulated::Finding& finding : report.findings) {
    fmt::print("  {}\n", printable(simulated::to_text(finding)));
  }
  if (!report.fault.empty()) fmt::print("  the kernel was stopped: {}\n", printable(report.fault));
}

std::vector<std::byte> buffer_file(const BufferContent& buffer, const std::string& file) {
  if (file.ends_with(".bin")) return buffer.bytes;
  if (file.ends_with(".npy")) return npy_bytes({buffer.type, buffer.shape, buffer.bytes});
  if (!file.ends_with(".json")) throw UserError(fmt::format("{}: expected a file .bin, .npy or .json", file));
  const ordered_json json = {{"name", buffer.name},
                             {"type", element_name(buffer.type)},
                             {"shape", buffer.shape},
                             {"values", values_json(buffer)}};
  const std::string text = json_line(json) + '\n';
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

}  // namespace convladder
