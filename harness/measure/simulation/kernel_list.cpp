#include "harness/measure/simulation/kernel_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "devices/kernel_resources.hpp"
#include "simulator/instructions/decoder.hpp"
#include "simulator/state/program.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/report.hpp"

namespace convladder {

namespace {

std::string parameter_lines(const ListedKernel& listed) {
  std::string lines;
  for (std::size_t i = 0; i < listed.kernel->parameters.size(); ++i) {
    const ptx::Symbol& parameter = listed.kernel->parameters[i];
    const std::string prefix = listed.kernel->name + '_';
    const bool is_mangled = listed.name != listed.kernel->name && parameter.name.starts_with(prefix);
    lines +=
        fmt::format("  {:>2}  {:<40} {:>6} bytes\n", i,
                    printable(is_mangled ? parameter.name.substr(prefix.size()) : parameter.name), parameter.bytes);
  }
  return lines;
}

std::string resource_line(const KernelList& list, const ListedKernel& listed) {
  const ptx::Kernel& kernel = *listed.kernel;
  std::string line = fmt::format("  {}, {} bytes of shared memory", plural(kernel.instructions.size(), "instruction"),
                                 listed.shared_bytes);
  if (list.has_dynamic_shared_memory) line += " and what --shared adds";
  if (listed.local_bytes > 0) line += fmt::format(", {} bytes of local memory per thread", listed.local_bytes);
  if (const auto& [x, y, z] = kernel.required_block; x > 0) {
    line += fmt::format(", {} x {} x {} threads per block and no others", x, y, z);
  } else if (kernel.max_threads_per_block > 0) {
    line += fmt::format(", at most {} threads per block", kernel.max_threads_per_block);
  }
  return line + '\n';
}

}  // namespace

std::uint64_t variable_bytes(const ptx::Module& module, const ptx::Kernel& kernel, ptx::Space space) {
  std::uint64_t bytes = 0;
  for (const auto* const symbols : {&kernel.symbols, &module.symbols}) {
    for (const ptx::Symbol& symbol : *symbols) {
      if (symbol.space == space) bytes += symbol.bytes;
    }
  }
  return bytes;
}

const ptx::Kernel& find_kernel(const ptx::Module& module, const std::string& entry) {
  if (module.kernels.empty()) throw UserError(fmt::format("{}: it contains no kernel", module.file));
  std::vector<std::string> names;
  for (const ptx::Kernel& kernel : module.kernels) {
    names.push_back(display_name(kernel.name));
    if (kernel.name == entry) return kernel;
  }
  if (entry.empty()) {
    if (names.size() == 1) return module.kernels.front();
    throw UserError(fmt::format("{}: it contains {} kernels; choose one with --entry: {}", module.file, names.size(),
                                fmt::join(names, ", ")));
  }
  if (std::ranges::count(names, entry) > 1) {
    throw UserError(fmt::format("{}: several kernels are called '{}', give the mangled name (--list shows it)",
                                module.file, entry));
  }
  const auto found = std::ranges::find(names, entry);
  if (found == names.end())
    throw UserError(fmt::format("{}: {}", module.file, unknown_name_message("kernel", entry, names)));
  return module.kernels[static_cast<std::size_t>(found - names.begin())];
}

std::vector<const ptx::Symbol*> host_variables(const ptx::Module& module) {
  std::vector<const ptx::Symbol*> variables;
  for (const ptx::Symbol& symbol : module.symbols) {
    const bool reachable = symbol.space == ptx::Space::global || symbol.space == ptx::Space::constant;
    // Texts of printf and assert, which nvcc calls $str and __unnamed_1, are not the user's variables.
    const bool made_by_compiler = symbol.name.starts_with('$') || symbol.name.starts_with("__unnamed");
    if (reachable && !made_by_compiler && symbol.bytes > 0 && symbol.opaque_type.empty()) variables.push_back(&symbol);
  }
  return variables;
}

const ptx::Symbol& find_variable(const ptx::Module& module, const std::string& name, const std::string& before) {
  const std::vector<const ptx::Symbol*> variables = host_variables(module);
  const auto exact = std::ranges::find(variables, name, &ptx::Symbol::name);
  if (exact != variables.end()) return **exact;
  const auto shown = [](const ptx::Symbol* variable) { return display_name(variable->name); };
  if (std::ranges::count(variables, name, shown) > 1) {
    throw UserError(fmt::format("{}several variables are called '{}', give the mangled name", before, name));
  }
  return *find_known("variable", name, variables, shown, before);
}

std::string_view space_name(ptx::Space space) {
  switch (space) {
    case ptx::Space::constant:
      return "constant";
    case ptx::Space::shared:
      return "shared";
    case ptx::Space::local:
      return "local";
    default:
      return "global";
  }
}

KernelList list_kernels(const ptx::Module& module, const ptx::Kernel* only) {
  KernelList list{&module, false, host_variables(module), {}, {}};
  for (const ptx::Symbol& symbol : module.symbols) {
    if (!symbol.opaque_type.empty()) list.references.push_back(&symbol);
    if (symbol.space == ptx::Space::shared && symbol.is_extern) list.has_dynamic_shared_memory = true;
  }
  for (const ptx::Kernel& kernel : module.kernels) {
    if (only != nullptr && only != &kernel) continue;
    list.kernels.push_back({&kernel, display_name(kernel.name), simulated::refusals(module, kernel),
                            variable_bytes(module, kernel, ptx::Space::shared),
                            variable_bytes(module, kernel, ptx::Space::local)});
  }
  return list;
}

void add_kernel_list(Report& report, const KernelList& list) {
  const std::size_t contents = report.sections.size();
  report.section();
  std::size_t refused = 0;
  for (const ListedKernel& listed : list.kernels) {
    ReportSection& section = report.section();
    section.literal(printable(listed.name) + '\n');
    // Where two kernels have the same name, --entry takes the name as it was written.
    if (std::ranges::count(list.kernels, listed.name, &ListedKernel::name) > 1) {
      section.literal(fmt::format("  {}\n", printable(listed.kernel->name)));
    }
    if (!listed.refusals.empty()) {
      ++refused;
      section.literal("  cannot be run here:\n");
      for (const ptx::Refusal& refusal : listed.refusals) {
        section.paragraph(printable(refusal.what), fmt::format("    line {}: ", refusal.position.line));
      }
    }
    // Not all of a refused kernel was read.
    section.literal((listed.kernel->refusal ? "" : resource_line(list, listed)) + parameter_lines(listed));
  }
  std::string text = fmt::format("{}: PTX {} for {}, {}", printable(list.module->file), printable(list.module->version),
                                 printable(list.module->target), plural(list.kernels.size(), "kernel"));
  if (refused > 0) text += fmt::format(", of which {} cannot be run here", refused);
  text += '\n';
  for (const ptx::Symbol* const variable : list.variables) {
    text += fmt::format("  {:<44} {:>6} bytes of {} memory\n", printable(display_name(variable->name)), variable->bytes,
                        space_name(variable->space));
  }
  for (const ptx::Symbol* const reference : list.references) {
    text += fmt::format("  {:<44} .{}\n", printable(display_name(reference->name)), reference->opaque_type);
  }
  report.sections[contents].literal(text);
}

}  // namespace convladder
