// From a kernel's text to operations.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "simulator/state/program.hpp"

namespace convladder::simulated {

/// The device address of a module's global or constant variable.
using SymbolAddress = std::function<std::uint64_t(const ptx::Symbol& symbol)>;

/// Decodes a kernel. Throws ptx::PtxError for the first thing that is not supported, with its place and full opcode.
/// `module` must outlive the program.
Program decode(const ptx::Module& module, const ptx::Kernel& kernel, const SymbolAddress& address_of);

/// A number that stands for a function of the module: what `mov.u64 %rd1, function` gives, and what a call takes.
std::uint64_t function_address(const ptx::Module& module, std::string_view name);

/// Everything that `decode` refuses the kernel for, in the order of the text, each thing once; empty if it can run.
/// What `what` says of an instruction begins with its full opcode in quotes.
std::vector<ptx::Refusal> refusals(const ptx::Module& module, const ptx::Kernel& kernel);

}  // namespace convladder::simulated
