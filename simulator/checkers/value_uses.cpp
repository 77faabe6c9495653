#include "simulator/checkers/value_uses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "simulator/instructions/memory/memory_access.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

/// Instructions that compute their first operand from the others, lane by lane, and do nothing else.
bool only_computes(std::string_view opcode) {
  constexpr std::string_view words[] = {"abs",      "add",   "addc", "and",  "bfe",  "bfi",  "brev",  "clz",   "cnot",
                                        "copysign", "cos",   "cvt",  "cvta", "div",  "ex2",  "fma",   "fns",   "lg2",
                                        "lop3",     "mad",   "madc", "max",  "min",  "mov",  "mul",   "mul24", "neg",
                                        "not",      "or",    "popc", "prmt", "rcp",  "rem",  "rsqrt", "sad",   "shf",
                                        "shl",      "shr",   "sin",  "sqrt", "sub",  "subc", "tanh",  "xor",   "mad24",
                                        "bmsk",     "szext", "dp2a", "dp4a", "selp", "setp", "set",   "slct",  "testp"};
  return std::ranges::find(words, opcode.substr(0, opcode.find('.'))) != std::end(words);
}

/// Instructions that give lanes of a warp a value of others, and do nothing else: the second operand of shuffles.
bool only_exchanges(std::string_view opcode) { return opcode.starts_with("shfl.") || opcode.starts_with("redux."); }

bool is_plain_load(std::string_view opcode) { return opcode.starts_with("ld.") && !opcode.starts_with("ld.param"); }

bool is_plain_store(std::string_view opcode) {
  if (!opcode.starts_with("st.") || opcode.starts_with("st.param")) return false;
  const auto access = parse_memory_access(opcode);
  return access && access->is_store;
}

/// The registers of an operand: its own, and those of its elements.
void add_registers(const Operand& operand, std::set<int>& registers) {
  const bool has_own = operand.kind == OperandKind::register_ || operand.kind == OperandKind::address;
  if (has_own && operand.index >= 0) registers.insert(operand.index);
  for (const Operand& element : operand.elements) add_registers(element, registers);
}

std::set<int> registers_of(const Operand& operand) {
  std::set<int> registers;
  add_registers(operand, registers);
  return registers;
}

bool reads_any(const Operand& operand, const std::set<int>& values) {
  return std::ranges::any_of(registers_of(operand), [&values](int one) { return values.contains(one); });
}

/// The elements of a vector, or the operand alone.
std::span<const Operand> elements_of(const Operand& operand) {
  if (operand.kind == OperandKind::vector) return operand.elements;
  return {&operand, 1};
}

/// One step: follows the values of `values` through an instruction.
void follow(const Instruction& instruction, int number, std::set<int>& values, ValueUses& uses) {
  const auto& operands = instruction.operands;
  const auto is_read = [&values](const Operand& operand) { return reads_any(operand, values); };
  const bool decides = instruction.predicate >= 0 && values.contains(instruction.predicate);
  if (decides && !only_computes(instruction.opcode)) uses.is_only_stored = false;
  if (operands.empty()) return;
  const std::string_view opcode = instruction.opcode;
  if (is_plain_store(opcode)) {
    if (is_read(operands[0])) uses.is_only_stored = false;
    if (operands.size() > 1 && is_read(operands[1])) uses.stores.push_back(number);
    return;
  }
  const std::span<const Operand> sources = std::span(operands).subspan(1);
  if (is_plain_load(opcode) && std::ranges::none_of(sources, is_read)) return;  // it may define one of them anew
  if (only_computes(opcode)) {
    if (decides || std::ranges::any_of(sources, is_read)) add_registers(operands[0], values);
    return;
  }
  if (only_exchanges(opcode) && std::ranges::none_of(sources.subspan(1), is_read)) {
    if (!is_read(sources[0])) return;
    uses.reaches_lanes = true;
    add_registers(operands[0], values);
    return;
  }
  if (std::ranges::any_of(operands, is_read)) uses.is_only_stored = false;
}

/// The only instruction that writes the register; -1 if there are several. Instructions that have no destination but
/// name a register first count as well, which only makes the answer more careful.
int only_definition(const ptx::Kernel& kernel, int register_number) {
  int found = -1;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction& instruction = kernel.instructions[i];
    if (instruction.operands.empty() || is_plain_store(instruction.opcode)) continue;
    const Operand& destination = instruction.operands[0];
    if (destination.kind == OperandKind::address || !registers_of(destination).contains(register_number)) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

/// Follows one element, unchanged, from register to register. Returns false where anything else is done with it.
bool follow_copy(const ptx::Kernel& kernel, int register_number, int bits, int load_element, int depth,
                 std::vector<CarriedElement>& carried) {
  constexpr int kMostMoves = 8;
  if (depth == kMostMoves || only_definition(kernel, register_number) < 0) return false;
  const std::set<int> value = {register_number};
  const int own = only_definition(kernel, register_number);
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction& instruction = kernel.instructions[i];
    const auto& operands = instruction.operands;
    if (instruction.predicate == register_number) return false;
    if (static_cast<int>(i) == own || operands.empty()) continue;
    const bool is_named = std::ranges::any_of(operands, [&](const Operand& one) { return reads_any(one, value); });
    if (!is_named) continue;
    if (is_plain_store(instruction.opcode)) {
      const auto access = parse_memory_access(instruction.opcode);
      if (reads_any(operands[0], value) || access->type.bits != bits) return false;
      const std::span<const Operand> elements = elements_of(operands[1]);
      for (std::size_t e = 0; e < elements.size(); ++e) {
        if (elements[e].index == register_number) {
          carried.push_back({static_cast<int>(i), static_cast<int>(e), load_element});
        }
      }
      continue;
    }
    const bool is_move = instruction.opcode.starts_with("mov.") && operands.size() == 2 &&
                         operands[0].kind == OperandKind::register_ && operands[1].kind == OperandKind::register_;
    if (!is_move || !follow_copy(kernel, operands[0].index, bits, load_element, depth + 1, carried)) return false;
  }
  return true;
}

bool computes_float(const ptx::Kernel& kernel, int register_number, int bits, int depth) {
  constexpr int kMostSteps = 16;
  if (depth == kMostSteps) return false;
  const std::string type = fmt::format(".f{}", bits);
  for (const Instruction& instruction : kernel.instructions) {
    const auto& operands = instruction.operands;
    if (operands.size() < 2 || !registers_of(operands[0]).contains(register_number)) continue;
    const std::string_view opcode = instruction.opcode;
    const bool passes_on = opcode.starts_with("mov.") || opcode.starts_with("selp.") || opcode.starts_with("shfl.");
    if (!passes_on) {
      const bool is_float = only_computes(opcode) && opcode.find(type) != std::string_view::npos;
      // The result's type stands first in a conversion, and last elsewhere.
      if (is_float && (opcode.starts_with("cvt") ? opcode.find(type) < opcode.rfind('.') : opcode.ends_with(type))) {
        return true;
      }
      continue;
    }
    const std::size_t last = opcode.starts_with("selp.") ? 3 : 2;
    for (std::size_t i = 1; i < std::min(last, operands.size()); ++i) {
      if (operands[i].kind == OperandKind::register_ && operands[i].index != register_number &&
          computes_float(kernel, operands[i].index, bits, depth + 1)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

ValueUses uses_of_load(const ptx::Kernel& kernel, int load) {
  ValueUses uses;
  const Instruction& loading = kernel.instructions[static_cast<std::size_t>(load)];
  if (!is_plain_load(loading.opcode)) return {.is_only_stored = false, .stores = {}};
  std::set<int> values = registers_of(loading.operands[0]);
  for (std::size_t known = 0; known != values.size() && uses.is_only_stored;) {
    known = values.size();
    uses.stores.clear();
    for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
      follow(kernel.instructions[i], static_cast<int>(i), values, uses);
    }
  }
  return uses;
}

bool decides_way(const ptx::Kernel& kernel, int load) {
  const Instruction& loading = kernel.instructions[static_cast<std::size_t>(load)];
  if (loading.operands.empty()) return true;
  std::set<int> values = registers_of(loading.operands[0]);
  for (std::size_t known = 0; known != values.size();) {
    known = values.size();
    for (const Instruction& instruction : kernel.instructions) {
      const std::string_view opcode = instruction.opcode;
      const auto& operands = instruction.operands;
      const bool has_sources = operands.size() > 1;
      const auto sources = has_sources ? std::span(operands).subspan(1) : std::span<const Operand>();
      const auto is_read = [&values](const Operand& operand) { return reads_any(operand, values); };
      const bool reads = std::ranges::any_of(sources, is_read);
      if (instruction.predicate >= 0 && values.contains(instruction.predicate)) {
        if (!only_computes(opcode)) return true;
        if (!operands.empty()) add_registers(operands[0], values);
      }
      if (reads && opcode.starts_with("atom.") && opcode.find(".cas.") != std::string_view::npos) return true;
      const bool is_branch = opcode.starts_with("brx") || opcode.starts_with("call") || opcode.starts_with("st.param");
      if (is_branch && std::ranges::any_of(operands, is_read)) return true;
      const bool passes_on = only_computes(opcode) || only_exchanges(opcode) || opcode.starts_with("vote.") ||
                             opcode.starts_with("match.") || opcode.starts_with("bar.red");
      if (passes_on && reads) add_registers(operands[0], values);
    }
  }
  return false;
}

std::vector<CarriedElement> copies_of_load(const ptx::Kernel& kernel, int load) {
  const Instruction& loading = kernel.instructions[static_cast<std::size_t>(load)];
  const auto access = is_plain_load(loading.opcode) ? parse_memory_access(loading.opcode) : std::nullopt;
  if (!access) return {};
  std::vector<CarriedElement> carried;
  const std::span<const Operand> elements = elements_of(loading.operands[0]);
  for (std::size_t e = 0; e < elements.size(); ++e) {
    if (elements[e].kind != OperandKind::register_) continue;
    if (!follow_copy(kernel, elements[e].index, access->type.bits, static_cast<int>(e), 0, carried)) return {};
  }
  return carried;
}

bool stores_floats(const ptx::Kernel& kernel, int store, int bits) {
  const Instruction& storing = kernel.instructions[static_cast<std::size_t>(store)];
  const auto access = is_plain_store(storing.opcode) ? parse_memory_access(storing.opcode) : std::nullopt;
  if (!access || access->type.bits != bits || (bits != 32 && bits != 64) || storing.operands.size() < 2) return false;
  if (access->type.type_class == ptx::TypeClass::floating) return true;
  const std::span<const Operand> elements = elements_of(storing.operands[1]);
  return std::ranges::all_of(elements, [&](const Operand& element) {
    return element.kind == OperandKind::register_ && computes_float(kernel, element.index, bits, 0);
  });
}

}  // namespace convladder::simulated
