// A kernel together with the functions that it calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/ptx/control_flow.hpp"
#include "simulator/ptx/module.hpp"

namespace convladder::ptx {

/// A function placed after the instructions of a kernel. Its variables are the kernel's, named "function:" and their
/// names.
struct LinkedFunction {
  const Kernel* function = nullptr;  ///< in Module::functions
  int first = 0;                     ///< index of its first instruction
  std::vector<Symbol> parameters;
  std::vector<Symbol> results;
  std::vector<Symbol> symbols;  ///< variables of its body
};

/// One kernel made of all instructions: first its own, then those of each function.
struct LinkedKernel {
  Kernel kernel;
  std::vector<LinkedFunction> functions;
};

bool is_call(const Instruction& instruction);
/// Whether a function that is not defined belongs to the CUDA runtime for kernels, by its name.
bool is_of_device_runtime(std::string_view function);
/// Whether the device may provide the function: vprintf, malloc, free, __assertfail, and those of the device runtime.
bool is_provided(std::string_view function);

/// Everything that the module uses without defining it: functions that are called or whose addresses are taken, and
/// variables; each once, at its first use, in the order of the text. Those that the device or the toolkit's device
/// runtime (functions of names that begin with "cuda") provides are no such thing.
std::vector<Refusal> undefined(const Module& module);
/// Whether the module declares the variable, and nothing in it defines it: dynamic shared memory needs no definition.
bool is_undefined(const Symbol& symbol);
/// Whether an instruction of a body names the module's variable.
bool uses(const Kernel& body, const Instruction& instruction, std::string_view symbol);
/// As a message shows it.
std::string undefined_text(const Symbol& symbol);

/// The kernel with all functions that it may call; if it calls through pointers, all functions whose addresses are
/// taken. Throws PtxError for functions that are not defined, and for unsupported things in their bodies. `module` must
/// outlive the result, and so must `replaced`: if it is not null, this body takes the place of the function of its
/// name.
LinkedKernel link(const Module& module, const Kernel& kernel, const Kernel* replaced = nullptr);

/// Blocks of the kernel and of its functions, one after another. Each function has its own end, for which the number of
/// all blocks stands.
std::vector<BasicBlock> control_flow(const LinkedKernel& linked, const Kernel& kernel, const std::string& file);

}  // namespace convladder::ptx
