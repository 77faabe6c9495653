#include "harness/measure/simulation/kernel_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "devices/kernel_resources.hpp"
#include "simulator/instructions/decoder.hpp"
#include "simulator/state/program.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

bool has_dynamic_shared_memory(const ptx::Module& module) {
  const auto is_dynamic = [](const ptx::Symbol& symbol) {
    return symbol.space == ptx::Space::shared && symbol.is_extern;
  };
  return std::ranges::any_of(module.symbols, is_dynamic);
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

std::vector<const ptx::Kernel*> listed_kernels(const ptx::Module& module, const ptx::Kernel* only) {
  std::vector<const ptx::Kernel*> kernels;
  for (const ptx::Kernel& kernel : module.kernels) {
    if (only == nullptr || only == &kernel) kernels.push_back(&kernel);
  }
  return kernels;
}

std::string parameter_lines(const ptx::Kernel& kernel) {
  std::string lines;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ptx::Symbol& parameter = kernel.parameters[i];
    const std::string prefix = kernel.name + '_';
    const bool is_mangled = display_name(kernel.name) != kernel.name && parameter.name.starts_with(prefix);
    lines +=
        fmt::format("  {:>2}  {:<40} {:>6} bytes\n", i,
                    printable(is_mangled ? parameter.name.substr(prefix.size()) : parameter.name), parameter.bytes);
  }
  return lines;
}

std::string resource_line(const ptx::Module& module, const ptx::Kernel& kernel) {
  std::string line = fmt::format("  {}, {} bytes of shared memory", plural(kernel.instructions.size(), "instruction"),
                                 variable_bytes(module, kernel, ptx::Space::shared));
  if (has_dynamic_shared_memory(module)) line += " and what --shared adds";
  if (const std::uint64_t local = variable_bytes(module, kernel, ptx::Space::local); local > 0) {
    line += fmt::format(", {} bytes of local memory per thread", local);
  }
  if (kernel.max_threads_per_block > 0)
    line += fmt::format(", at most {} threads per block", kernel.max_threads_per_block);
  return line + '\n';
}

}  // namespace

/// Bytes of the variables in that space that the kernel has itself or shares with others in its file; dynamic ones
/// count 0.
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

std::string kernel_list_text(const ptx::Module& module, const ptx::Kernel* only) {
  std::string kernels;
  std::size_t refused = 0;
  const std::vector<const ptx::Kernel*> listed = listed_kernels(module, only);
  for (const ptx::Kernel* const kernel : listed) {
    const std::string name = display_name(kernel->name);
    kernels += fmt::format("\n{}\n", printable(name));
    const auto has_name = [&name](const ptx::Kernel* other) { return display_name(other->name) == name; };
    // Where two kernels have the same name, --entry takes the name as it was written.
    if (std::ranges::count_if(listed, has_name) > 1) kernels += fmt::format("  {}\n", printable(kernel->name));
    const std::vector<ptx::Refusal> refusals = simulated::refusals(module, *kernel);
    if (!refusals.empty()) {
      ++refused;
      kernels += "  cannot be run here:\n";
      for (const ptx::Refusal& refusal : refusals) {
        kernels += hanging(fmt::format("    line {}: ", refusal.position.line), printable(refusal.what));
      }
    }
    if (!kernel->refusal) kernels += resource_line(module, *kernel);  // not all of a refused kernel was read
    kernels += parameter_lines(*kernel);
  }
  std::string text = fmt::format("{}: PTX {} for {}, {}", printable(module.file), printable(module.version),
                                 printable(module.target), plural(listed.size(), "kernel"));
  if (refused > 0) text += fmt::format(", of which {} cannot be run here", refused);
  text += '\n';
  for (const ptx::Symbol* const variable : host_variables(module)) {
    text += fmt::format("  {:<44} {:>6} bytes of {} memory\n", printable(display_name(variable->name)), variable->bytes,
                        space_name(variable->space));
  }
  for (const ptx::Symbol& symbol : module.symbols) {
    if (symbol.opaque_type.empty()) continue;
    text += fmt::format("  {:<44} .{}\n", printable(display_name(symbol.name)), symbol.opaque_type);
  }
  return text + kernels;
}

ordered_json kernel_list_json(const ptx::Module& module, const ptx::Kernel* only) {
  ordered_json variables = ordered_json::array();
  for (const ptx::Symbol* const variable : host_variables(module)) {
    variables.push_back({{"name", variable->name},
                         {"display_name", display_name(variable->name)},
                         {"space", space_name(variable->space)},
                         {"bytes", variable->bytes}});
  }
  ordered_json references = ordered_json::array();
  for (const ptx::Symbol& symbol : module.symbols) {
    if (symbol.opaque_type.empty()) continue;
    references.push_back(
        {{"name", symbol.name}, {"display_name", display_name(symbol.name)}, {"type", symbol.opaque_type}});
  }
  ordered_json kernels = ordered_json::array();
  for (const ptx::Kernel* const kernel : listed_kernels(module, only)) {
    ordered_json refusals = ordered_json::array();
    for (const ptx::Refusal& refusal : simulated::refusals(module, *kernel)) {
      refusals.push_back(
          {{"line", refusal.position.line}, {"column", refusal.position.column}, {"what", refusal.what}});
    }
    ordered_json parameters = ordered_json::array();
    for (const ptx::Symbol& parameter : kernel->parameters) {
      parameters.push_back({{"name", parameter.name}, {"bytes", parameter.bytes}, {"alignment", parameter.alignment}});
    }
    kernels.push_back({{"name", kernel->name},
                       {"display_name", display_name(kernel->name)},
                       {"refusals", std::move(refusals)},
                       {"instructions", kernel->refusal ? ordered_json() : ordered_json(kernel->instructions.size())},
                       {"shared_bytes", variable_bytes(module, *kernel, ptx::Space::shared)},
                       {"has_dynamic_shared_memory", has_dynamic_shared_memory(module)},
                       {"local_bytes", variable_bytes(module, *kernel, ptx::Space::local)},
                       {"max_threads_per_block", kernel->max_threads_per_block},
                       {"parameters", std::move(parameters)}});
  }
  return {{"file", module.file},
          {"ptx_version", module.version},
          {"target", module.target},
          {"variables", std::move(variables)},
          {"references", std::move(references)},
          {"kernels", std::move(kernels)}};
}

}  // namespace convladder
