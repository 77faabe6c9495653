// Turns a kernel's text into operations.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "simulator/mutations/mutation.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {

/// The device address of a module's global or constant variable.
using SymbolAddress = std::function<std::uint64_t(const ptx::Symbol& symbol)>;

/// Decodes a kernel, or a mutant of it. Throws ptx::PtxError for the first unsupported thing, with its place and full
/// opcode. `module` must outlive the program.
Program decode(const ptx::Module& module, const ptx::Kernel& kernel, const SymbolAddress& address_of,
               const Mutation* mutation = nullptr);

/// A number that stands for a function or a kernel of the module: the value of `mov.u64 %rd1, function`, the operand of
/// a call, and that of a launch by a kernel.
std::uint64_t function_address(const ptx::Module& module, std::string_view name);

/// The kernel that this number stands for; nullptr if it stands for none.
const ptx::Kernel* kernel_at(const ptx::Module& module, std::uint64_t address);

/// Everything for which `decode` refuses the kernel, in the order of the text, each thing once; empty if it can run.
/// For an instruction, `what` begins with its full opcode in quotes.
std::vector<ptx::Refusal> refusals(const ptx::Module& module, const ptx::Kernel& kernel);

}  // namespace convladder::simulated
