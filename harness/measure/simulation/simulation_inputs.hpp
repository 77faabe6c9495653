// All data on which a launch works, as typed on the command line: arguments, further buffers, variables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/simulation/kernel_argument.hpp"
#include "simulator/ptx/module.hpp"

namespace convladder {

/// A __device__ or __constant__ variable that is given a value.
struct VariableValue {
  std::string name;  ///< in the source, or in the PTX
  KernelArgument value;
};

struct SimulationInputs {
  std::vector<KernelArgument> arguments;  ///< one for each parameter
  std::vector<KernelArgument> buffers;    ///< buffers to which no parameter points directly
  std::vector<VariableValue> variables;
  std::vector<KernelArgument> references;  ///< textures and surfaces for the `.texref` and `.surfref` of their names
};

/// A buffer or a variable by its name, to be read after the launch.
struct ReadContent {
  std::string name;                       ///< of the buffer; as written for a variable
  const ptx::Symbol* variable = nullptr;  ///< none for a buffer
  std::optional<ElementType> type;        ///< of a variable's elements; none: the type with which it was set, or bytes
};

/// The shape in which a variable is read: that with which it was set, if the type is the same; otherwise a row.
std::vector<std::size_t> variable_shape(const ReadContent& content, const SimulationInputs& inputs);

/// Parses --arg, --buffer and --set. Also reads the files that are named. Throws UserError.
SimulationInputs parse_inputs(const std::vector<std::string>& arguments, const std::vector<std::string>& buffers,
                              const std::vector<std::string>& variables);

/// The inputs for a kernel: an argument without a name gets its parameter's. Throws UserError where sizes differ, a
/// name is not known or used twice, or an address lies outside its buffer.
SimulationInputs inputs_for(SimulationInputs inputs, const ptx::Module& module, const ptx::Kernel& kernel);

/// The `.texref` or `.surfref` of the module that a texture or surface is for. Throws UserError.
const ptx::Symbol& find_reference(const ptx::Module& module, const KernelArgument& reference);

/// Parses "NAME", "NAME:TYPE" for a variable, or the number of a parameter. Throws UserError that starts with `what`.
ReadContent find_content(const std::string& what, const std::string& name, const SimulationInputs& inputs,
                         const ptx::Module& module);

}  // namespace convladder
