#include "harness/measure/simulation/kernel_lints.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "devices/kernel_resources.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/short_names.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using simulated::Lint;
using simulated::LintedKernel;
using simulated::Severity;

std::string block_text(const Dim3& block) {
  return block.z > 1   ? fmt::format("{} x {} x {} threads", block.x, block.y, block.z)
         : block.y > 1 ? fmt::format("{} x {} threads", block.x, block.y)
                       : plural(block.x, "thread");
}

/// "scale.cu:12", "PTX:40"; "-" for the whole kernel.
std::string place_cell(const Lint& lint) {
  if (lint.opcode.empty()) return "-";
  if (lint.places.empty()) return fmt::format("PTX:{}", lint.ptx_line);
  return fmt::format("{}:{}", printable(lint.places.front().file), lint.places.front().line);
}

std::string problem_cell(const Lint& lint) {
  std::string text = lint.opcode.empty() || lint.problem.starts_with(lint.opcode) ? "" : lint.opcode + ": ";
  text += lint.problem;
  if (lint.loops > 0) text += fmt::format("; in {}", plural(static_cast<std::size_t>(lint.loops), "loop"));
  if (lint.instructions > 1) text += fmt::format(" ({} instructions)", lint.instructions);
  return printable(text);
}

/// The heading of a kernel: its name, and how far it was looked at.
std::string heading_of(const LintedKernel& kernel, const std::string& name) {
  if (!kernel.not_looked_at.empty()) return name;
  return fmt::format("{}: {} of {}{}, {} of {} accesses understood", name,
                     kernel.shape.is_given ? "blocks" : "assuming blocks", block_text(kernel.shape.threads),
                     kernel.shape.is_given ? "" : " (--block)", kernel.understood, kernel.accesses);
}

ordered_json json_of(const Lint& lint) {
  ordered_json json = {{"kind", simulated::words_of(lint.kind).word},
                       {"severity", severity_name(lint.severity)},
                       {"opcode", lint.opcode},
                       {"ptx_line", lint.ptx_line}};
  json["places"] = ordered_json::array();
  for (const simulated::SourcePlace& place : lint.places)
    json["places"].push_back({{"file", place.file}, {"line", place.line}});
  json["loops"] = lint.loops;
  json["instructions"] = lint.instructions;
  json["problem"] = lint.problem;
  if (lint.cost) json["cost"] = {{"kind", "predicted"}, {"found", lint.cost->found}, {"possible", lint.cost->possible}};
  return json;
}

ordered_json json_of(const LintedKernel& kernel) {
  const Dim3 block = kernel.shape.threads;
  ordered_json json = {{"kernel", kernel.name},
                       {"name", display_name(kernel.name)},
                       {"block", {block.x, block.y, block.z}},
                       {"block_is_given", kernel.shape.is_given},
                       {"accesses", kernel.accesses},
                       {"understood", kernel.understood}};
  if (!kernel.not_looked_at.empty()) json["not_looked_at"] = kernel.not_looked_at;
  json["lints"] = ordered_json::array();
  for (const Lint& lint : kernel.lints) json["lints"].push_back(json_of(lint));
  return json;
}

}  // namespace

std::uint64_t LintedFile::count(Severity severity) const {
  std::uint64_t all = 0;
  for (const LintedKernel& kernel : kernels) {
    all += static_cast<std::uint64_t>(std::ranges::count(kernel.lints, severity, &Lint::severity));
  }
  return all;
}

LintedFile lint_file(const std::string& file, const LintOptions& options) {
  const std::string text = ptx_text(file, options.compiler);
  const ptx::Module module = parse_ptx_of(file, text);
  LintedFile linted{.file = file, .registers_of = {}, .kernels = {}};
  std::vector<KernelResources> resources;
  if (options.gpu != nullptr) {
    resources = ptxas_resources(text, options.gpu->resources_of);
    if (!resources.empty()) linted.registers_of = options.gpu->resources_of;
  }
  for (const ptx::Kernel& kernel : module.kernels) {
    if (!options.kernels.matches(display_name(kernel.name))) continue;
    simulated::LintSettings settings{
        .block = options.block, .dynamic_bytes = options.dynamic_bytes, .gpu = options.gpu};
    if (const auto known = std::ranges::find(resources, kernel.name, &KernelResources::kernel);
        known != resources.end()) {
      settings.registers = known->registers;
      settings.spill_bytes = known->spill_store_bytes + known->spill_load_bytes;
    }
    linted.kernels.push_back(simulated::lint(module, kernel, settings));
  }
  return linted;
}

Report lint_report(const std::vector<LintedFile>& files, bool verbose) {
  Report report;
  for (const LintedFile& file : files) {
    std::set<std::string> names;
    for (const LintedKernel& kernel : file.kernels) names.insert(display_name(kernel.name));
    const std::map<std::string, std::string> shown = short_names(names);
    const auto findings = static_cast<std::size_t>(file.count(Severity::finding));
    const auto costs = static_cast<std::size_t>(file.count(Severity::note));
    const auto skipped = static_cast<std::size_t>(
        std::ranges::count_if(file.kernels, [](const LintedKernel& one) { return !one.not_looked_at.empty(); }));
    report.section().paragraph(fmt::format("{}: {} looked at, {}, {}{}", printable(file.file),
                                           plural(file.kernels.size() - skipped, "kernel"), plural(findings, "finding"),
                                           plural(costs, "note"),
                                           skipped > 0 ? fmt::format("; {} not", plural(skipped, "kernel")) : ""));
    for (const LintedKernel& kernel : file.kernels) {
      const std::string full = display_name(kernel.name);
      const auto shorter = shown.find(full);
      const std::string name = printable(shorter == shown.end() ? full : shorter->second);
      if (!kernel.not_looked_at.empty()) {
        report.section(heading_of(kernel, name)).paragraph("not looked at: " + printable(kernel.not_looked_at));
        continue;
      }
      if (kernel.lints.empty() && !verbose) continue;
      ReportSection& section = report.section(heading_of(kernel, name));
      std::vector<std::vector<std::string>> rows;
      for (const Lint& lint : kernel.lints) {
        rows.push_back({place_cell(lint), lint.severity == Severity::finding ? "FINDING" : "note",
                        std::string(simulated::words_of(lint.kind).word), problem_cell(lint)});
      }
      if (rows.empty()) {
        section.paragraph("nothing was found");
      } else {
        section.table({left("line"), left(""), left("kind"), left("what")}, std::move(rows));
      }
    }
  }
  const auto any_kernel = [&](const auto& is_it) {
    return std::ranges::any_of(files, [&](const LintedFile& file) { return std::ranges::any_of(file.kernels, is_it); });
  };
  const auto has_cost = [](const LintedKernel& kernel) {
    return std::ranges::any_of(kernel.lints, [](const Lint& lint) { return lint.cost.has_value(); });
  };
  ReportSection& notes = report.section();
  if (any_kernel(has_cost)) {
    notes.note("costs are predicted from addresses and resources; 'convladder simulate --lines' counts them");
  }
  if (std::ranges::any_of(files, [](const LintedFile& file) { return file.registers_of.empty(); })) {
    notes.note("occupancy is told without registers: there is no ptxas, or it does not take the PTX");
  }
  if (any_kernel([](const LintedKernel& kernel) { return !kernel.shape.is_given && kernel.not_looked_at.empty(); })) {
    notes.note("nothing is told of occupancy or of the last threads where the block is only assumed");
  }
  return report;
}

std::string lints_json(const std::vector<LintedFile>& files) {
  ordered_json json = {{"schema_version", "1.0"}, {"kind", kLintsKind}, {"files", ordered_json::array()}};
  for (const LintedFile& file : files) {
    ordered_json one = {{"file", file.file}};
    if (!file.registers_of.empty()) one["registers_of"] = file.registers_of;
    one["kernels"] = ordered_json::array();
    for (const LintedKernel& kernel : file.kernels) one["kernels"].push_back(json_of(kernel));
    json["files"].push_back(std::move(one));
  }
  return json_text(json);
}

}  // namespace convladder
