#include "simulator/ptx/opcode_parts.hpp"

#include <algorithm>
#include <string>

namespace convladder::ptx {
namespace {

/// Whether the first operand of an instruction is read, although it is a register.
bool has_no_result(std::string_view opcode) {
  const bool is_barrier = opcode.starts_with("bar.") || opcode.starts_with("barrier.");
  if (is_barrier) return opcode.find(".red") == std::string_view::npos;
  return opcode.starts_with("brx.") || opcode.starts_with("nanosleep") || opcode.starts_with("stackrestore");
}

}  // namespace

bool has_part(const OpcodeParts& parts, std::string_view part) { return std::ranges::find(parts, part) != parts.end(); }

std::vector<Type> types_in(const OpcodeParts& parts) {
  std::vector<Type> types;
  for (const std::string_view part : parts) {
    if (const auto type = type_of_suffix('.' + std::string(part))) types.push_back(*type);
  }
  return types;
}

int moved_bytes(const OpcodeParts& parts) {
  int elements = 1;
  for (const std::string_view part : parts) {
    if (part == "v2" || part == "v4" || part == "v8") elements = part[1] - '0';
  }
  const std::vector<Type> types = types_in(parts);
  return types.empty() ? 0 : elements * types.back().bytes();
}

std::vector<int> result_registers(const Instruction& instruction) {
  std::vector<int> registers;
  if (instruction.operands.empty() || has_no_result(instruction.opcode)) return registers;
  const Operand& first = instruction.operands.front();
  const auto add = [&registers](const Operand& operand) {
    registers.push_back(operand.kind == OperandKind::register_ ? operand.index : -1);
  };
  if (first.kind == OperandKind::register_) add(first);
  if (first.kind == OperandKind::vector || first.kind == OperandKind::pair) std::ranges::for_each(first.elements, add);
  return registers;
}

}  // namespace convladder::ptx
