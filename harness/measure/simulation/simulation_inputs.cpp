#include "harness/measure/simulation/simulation_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "devices/kernel_resources.hpp"
#include "harness/measure/simulation/kernel_list.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace convladder {
namespace {

std::vector<const KernelArgument*> buffers_of(const SimulationInputs& inputs) {
  std::vector<const KernelArgument*> buffers;
  for (const auto* const list : {&inputs.arguments, &inputs.buffers, &inputs.references}) {
    for (const KernelArgument& argument : *list) {
      if (argument.is_buffer()) buffers.push_back(&argument);
    }
  }
  return buffers;
}

void require_sizes(const std::vector<KernelArgument>& arguments, const ptx::Kernel& kernel) {
  if (arguments.size() != kernel.parameters.size()) {
    throw UserError(fmt::format("{} has {} parameters, but {} --arg were given", display_name(kernel.name),
                                kernel.parameters.size(), arguments.size()));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const KernelArgument& argument = arguments[i];
    const std::size_t bytes = argument.is_buffer() ? sizeof(std::uint64_t) : argument.bytes.size();
    const ptx::Symbol& parameter = kernel.parameters[i];
    if (bytes != parameter.bytes) {
      throw UserError(fmt::format("--arg {}: {} bytes, but parameter {} ({}) has {}", argument.text, bytes, i,
                                  parameter.name, parameter.bytes));
    }
  }
}

void require_addresses(const std::string& option, const KernelArgument& argument, const SimulationInputs& inputs) {
  const std::vector<const KernelArgument*> buffers = buffers_of(inputs);
  for (const BufferAddress& address : argument.addresses) {
    const std::string what = fmt::format("{} {}: ", option, argument.text);
    const KernelArgument& buffer = *find_known("buffer", address.buffer, buffers, &KernelArgument::name, what);
    if (buffer.texture && address.offset != 0) {
      throw UserError(fmt::format("{}'{}' is a handle, nothing can be added to it", what, buffer.name));
    }
    if (address.offset > buffer.buffer_bytes()) {
      throw UserError(fmt::format("{}'{}' has {} bytes, byte {} is beyond them", what, buffer.name,
                                  buffer.buffer_bytes(), address.offset));
    }
  }
}

/// Whether the value of --set is a texture or a surface.
bool is_texels(const std::string& value) {
  const std::string word = value.substr(0, value.find_first_of(",:"));
  return word == "texture" || word == "surface";
}

}  // namespace

const ptx::Symbol& find_reference(const ptx::Module& module, const KernelArgument& reference) {
  const char* const type = reference.texture->is_surface ? "surfref" : "texref";
  std::vector<std::string> known;
  for (const ptx::Symbol& symbol : module.symbols) {
    if (symbol.opaque_type != type) continue;
    known.push_back(display_name(symbol.name));
    if (symbol.name == reference.name || known.back() == reference.name) return symbol;
  }
  throw UserError(fmt::format("--set {}: {}", reference.text,
                              known.empty()
                                  ? fmt::format("the file has no variable .{}", type)
                                  : unknown_name_message(fmt::format("variable .{}", type), reference.name, known)));
}

std::vector<std::size_t> variable_shape(const ReadContent& content, const SimulationInputs& inputs) {
  const ElementType type = content.type.value_or(ElementType::u8);
  const auto set = std::ranges::find(inputs.variables, content.variable->name, &VariableValue::name);
  if (set != inputs.variables.end() && set->value.type == type) return set->value.shape;
  return {content.variable->bytes / element_bytes(type)};
}

SimulationInputs parse_inputs(const std::vector<std::string>& arguments, const std::vector<std::string>& buffers,
                              const std::vector<std::string>& variables) {
  SimulationInputs inputs;
  for (const std::string& text : arguments) inputs.arguments.push_back(parse_kernel_argument(text));
  for (const std::string& text : buffers) {
    KernelArgument buffer = parse_kernel_argument(text, "--buffer");
    if (!buffer.is_buffer() || buffer.name.empty()) {
      throw UserError(fmt::format("--buffer {}: expected NAME=in:…, NAME=inout:… or NAME=out:…", text));
    }
    inputs.buffers.push_back(std::move(buffer));
  }
  for (const std::string& text : variables) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      throw UserError(fmt::format("--set {}: expected NAME=TYPE:CONTENT", text));
    }
    const std::string value = text.substr(equals + 1);
    if (is_texels(value)) {
      KernelArgument reference = parse_kernel_argument(value, fmt::format("--set {}=", text.substr(0, equals)));
      reference.text = text;
      reference.name = text.substr(0, equals);
      inputs.references.push_back(std::move(reference));
      continue;
    }
    inputs.variables.push_back({text.substr(0, equals), parse_variable_value(text, value)});
  }
  return inputs;
}

SimulationInputs inputs_for(SimulationInputs inputs, const ptx::Module& module, const ptx::Kernel& kernel) {
  require_sizes(inputs.arguments, kernel);
  for (std::size_t i = 0; i < inputs.arguments.size(); ++i) {
    if (inputs.arguments[i].name.empty()) inputs.arguments[i].name = kernel.parameters[i].name;
  }
  std::vector<std::string> names;
  for (const auto& [option, list] :
       {std::pair{"--arg", &inputs.arguments}, {"--buffer", &inputs.buffers}, {"--set", &inputs.references}}) {
    for (const KernelArgument& argument : *list) {
      if (std::ranges::find(names, argument.name) != names.end()) {
        throw UserError(fmt::format("{} {}: the name '{}' is already used", option, argument.text, argument.name));
      }
      names.push_back(argument.name);
      require_addresses(option, argument, inputs);
    }
  }
  for (const KernelArgument& reference : inputs.references) static_cast<void>(find_reference(module, reference));
  for (std::size_t i = 0; i < inputs.variables.size(); ++i) {
    auto& [name, value] = inputs.variables[i];
    const ptx::Symbol& symbol = find_variable(module, name, fmt::format("--set {}: ", value.text));
    if (value.bytes.size() != symbol.bytes) {
      throw UserError(
          fmt::format("--set {}: {} bytes, but the variable has {}", value.text, value.bytes.size(), symbol.bytes));
    }
    name = symbol.name;
    for (std::size_t before = 0; before < i; ++before) {
      if (inputs.variables[before].name == name) {
        throw UserError(fmt::format("--set {}: the variable is already set", value.text));
      }
    }
    require_addresses("--set", value, inputs);
  }
  return inputs;
}

ReadContent find_content(const std::string& what, const std::string& name, const SimulationInputs& inputs,
                         const ptx::Module& module) {
  std::vector<std::string> known;
  for (const KernelArgument* const buffer : buffers_of(inputs)) {
    known.push_back(buffer->name);
    if (buffer->name == name) return {name, nullptr, buffer->type};
  }
  for (std::size_t i = 0; i < inputs.arguments.size(); ++i) {
    const KernelArgument& argument = inputs.arguments[i];
    if (argument.is_buffer() && std::to_string(i) == name) return {argument.name, nullptr, argument.type};
  }
  ReadContent content{name, nullptr, std::nullopt};
  std::string variable = name;
  if (const std::size_t colon = name.rfind(':'); colon != std::string::npos) {
    content.type = element_type_of(name.substr(colon + 1));
    if (content.type) variable = name.substr(0, colon);
  }
  for (const ptx::Symbol* const symbol : host_variables(module)) {
    known.push_back(display_name(symbol->name));
    if (symbol->name != variable && display_name(symbol->name) != variable) continue;
    content.variable = symbol;
    content.name = variable;
    const auto set = std::ranges::find(inputs.variables, symbol->name, &VariableValue::name);
    if (!content.type && set != inputs.variables.end()) content.type = set->value.type;
    if (content.type && symbol->bytes % element_bytes(*content.type) != 0) {
      throw UserError(fmt::format("{}: the variable's {} bytes are no whole number of {}", what, symbol->bytes,
                                  element_name(*content.type)));
    }
    return content;
  }
  throw UserError(fmt::format("{}: {}", what, unknown_name_message("buffer or variable", name, known)));
}

}  // namespace convladder
