// A kernel together with the functions that it calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/ptx/control_flow.hpp"
#include "simulator/ptx/module.hpp"

namespace convladder::ptx {

/// A function behind the instructions of a kernel. Its variables are the kernel's, with "function:" before their names.
struct LinkedFunction {
  const Kernel* function = nullptr;  ///< in Module::functions
  int first = 0;                     ///< instruction
  std::vector<Symbol> parameters;
  std::vector<Symbol> results;
  std::vector<Symbol> symbols;  ///< of its body
};

/// One kernel of all instructions: first its own, then those of each function.
struct LinkedKernel {
  Kernel kernel;
  std::vector<LinkedFunction> functions;
};

bool is_call(const Instruction& instruction);
/// Whether the device provides the function: vprintf, malloc, free, __assertfail.
bool is_provided(std::string_view function);

/// The kernel with all that it may call: where it calls through pointers, all functions whose addresses are taken.
/// Throws PtxError for functions that are not defined, and for what their bodies have that is not supported. `module`
/// must outlive the result.
LinkedKernel link(const Module& module, const Kernel& kernel);

/// Blocks of the kernel and of its functions, one after another. Each function has an end of its own; the number of all
/// blocks stands for it.
std::vector<BasicBlock> control_flow(const LinkedKernel& linked, const Kernel& kernel, const std::string& file);

}  // namespace convladder::ptx
