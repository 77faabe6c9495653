// Facts about an instruction that its opcode tells. ptx::split_opcode makes the parts.
#pragma once

#include <string_view>
#include <vector>

#include "simulator/ptx/module.hpp"

namespace convladder::ptx {

using OpcodeParts = std::vector<std::string_view>;

bool has_part(const OpcodeParts& parts, std::string_view part);
/// The types among the parts, in their order.
std::vector<Type> types_in(const OpcodeParts& parts);
/// The bytes that a thread moves with a load or a store: "v4.f32" has 16; 0 where the opcode does not say.
int moved_bytes(const OpcodeParts& parts);
/// The registers to which an instruction assigns, in the order of its operands; -1 for one that is left out (`_`).
std::vector<int> result_registers(const Instruction& instruction);

}  // namespace convladder::ptx
