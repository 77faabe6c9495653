// The order of an opcode's modifiers. The PTX ISA writes them in one order; ptxas takes them in any behind the words
// that name the instruction, and so do programs: "ldmatrix.sync.aligned.x4.m8n8.shared.b16".
#pragma once

#include <string>
#include <string_view>

namespace convladder::ptx {

/// The opcode with its modifiers in the ISA's order, where the instruction is one whose order is known here and all of
/// its modifiers are known; otherwise unchanged. Modifiers of one kind (two types, two state spaces) keep their order.
std::string in_order(std::string_view opcode);

}  // namespace convladder::ptx
