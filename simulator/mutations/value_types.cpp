#include "simulator/mutations/value_types.hpp"

#include <algorithm>
#include <string_view>

#include "simulator/mutations/opcode_facts.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;
using ptx::OperandKind;

std::optional<ValueType> type_said(const ptx::Type& type, std::string_view opcode) {
  const bool is_bf16 = opcode.find("bf16") != std::string_view::npos;
  if (type.type_class == ptx::TypeClass::floating_pair) {
    return is_bf16 ? ValueType::bfloat16_pair : ValueType::float16_pair;
  }
  if (type.type_class == ptx::TypeClass::floating) {
    if (type.bits == 16) return is_bf16 ? ValueType::bfloat16 : ValueType::float16;
    return type.bits == 64 ? ValueType::float64 : ValueType::float32;
  }
  if (type.type_class == ptx::TypeClass::bits) return std::nullopt;
  return ValueType::whole;
}

/// The instruction that writes the register last before `before`, or else the last of all: of the trip before.
int writer_of(const ptx::Kernel& body, int reg, int before) {
  const auto count = static_cast<int>(body.instructions.size());
  for (int i = 1; i <= count; ++i) {
    const int candidate = (before - i + count) % count;
    if (writes(body.instructions[static_cast<std::size_t>(candidate)], reg)) return candidate;
  }
  return -1;
}

/// The type of values of that size that the body computes with.
ValueType usual_type(const ptx::Kernel& body, int bits) {
  const auto computes = [&](const Instruction& one) {
    const auto type = result_type(one);
    return type && type->type_class == ptx::TypeClass::floating && type->bits == bits;
  };
  if ((bits != 32 && bits != 64) || std::ranges::none_of(body.instructions, computes)) return ValueType::whole;
  return bits == 32 ? ValueType::float32 : ValueType::float64;
}

ValueType element_of(ValueType type) {
  if (type == ValueType::float16_pair) return ValueType::float16;
  return type == ValueType::bfloat16_pair ? ValueType::bfloat16 : type;
}

}  // namespace

ValueType value_type(const ptx::Kernel& body, int reg, int before) {
  const int bits = body.registers[static_cast<std::size_t>(reg)].type.bits;
  constexpr int kMostSteps = 8;
  for (int step = 0; step < kMostSteps; ++step) {
    const int writer = writer_of(body, reg, before);
    if (writer < 0) break;
    const Instruction& instruction = body.instructions[static_cast<std::size_t>(writer)];
    if (const auto type = result_type(instruction)) {
      const auto said = type_said(*type, instruction.opcode);
      // Compilers load floats as whole numbers where they only move them.
      if (said && (*said != ValueType::whole || !instruction.opcode.starts_with("ld"))) return *said;
    }
    const bool copies = instruction.opcode.starts_with("mov") || instruction.opcode.starts_with("selp");
    if (!copies || instruction.operands.size() < 2 || instruction.operands[1].kind != OperandKind::register_) break;
    reg = instruction.operands[1].index;
    before = writer;
  }
  return usual_type(body, bits);
}

std::optional<ValueType> stored_type(const ptx::Kernel& body) {
  std::optional<ValueType> all;
  for (std::size_t i = 0; i < body.instructions.size(); ++i) {
    const auto store = store_facts(body.instructions[i]);
    if (!store || !store->is_global) continue;
    if (store->value == nullptr) return std::nullopt;
    const auto add = [&](const ptx::Operand& value) {
      if (value.kind != OperandKind::register_) return true;  // a constant has any type
      const ValueType type = element_of(value_type(body, value.index, static_cast<int>(i)));
      if (all && *all != type) return false;
      all = type;
      return true;
    };
    const std::vector<ptx::Operand>& elements = store->value->elements;
    if (elements.empty() ? !add(*store->value) : !std::ranges::all_of(elements, add)) return std::nullopt;
  }
  return all;
}

}  // namespace convladder::simulated
