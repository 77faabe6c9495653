#include "simulator/mutations/loops.hpp"

#include <algorithm>

#include "simulator/mutations/opcode_facts.hpp"

namespace convladder::simulated {
namespace {

using ptx::Operand;
using ptx::OperandKind;

/// The last instruction in [first, end) that writes the register; -1 if there is none.
int last_writer(const ptx::Kernel& body, int reg, int first, int end) {
  for (int i = end - 1; i >= first; --i) {
    if (writes(body.instructions[static_cast<std::size_t>(i)], reg)) return i;
  }
  return -1;
}

bool is_register(const Operand& operand) { return operand.kind == OperandKind::register_ && !operand.negated; }

/// The addend if the instruction is an integer sum "add x, register, addend" of that register.
const Operand* addend_to(const ptx::Instruction& sum, int reg) {
  const bool is_integer_sum = sum.opcode.starts_with("add.s") || sum.opcode.starts_with("add.u");
  if (!is_integer_sum || sum.operands.size() != 3 || sum.predicate >= 0) return nullptr;
  const Operand& a = sum.operands[1];
  const Operand& b = sum.operands[2];
  if (is_register(a) && a.index == reg) return &b;
  if (is_register(b) && b.index == reg) return &a;
  return nullptr;
}

/// The number that a trip through [first, end) adds to the register; none if that is not the same in each trip.
std::optional<Operand> step_of(const ptx::Kernel& body, int reg, int first, int end) {
  const auto is_left_alone = [&](const Operand& operand) {
    return operand.kind == OperandKind::immediate ||
           (is_register(operand) && last_writer(body, operand.index, first, end) < 0);
  };
  const int writer = last_writer(body, reg, first, end);
  if (writer < 0 || last_writer(body, reg, first, writer) >= 0) return std::nullopt;
  const ptx::Instruction& sum = body.instructions[static_cast<std::size_t>(writer)];
  if (const Operand* const step = addend_to(sum, reg)) {
    if (is_left_alone(*step)) return *step;
    return std::nullopt;
  }
  // The counter is a sum of another one and something that stays: "add n, m, i; setp n, 0". Or it is copied back at
  // the end of a trip: "add n, i, 1; …; mov i, n".
  for (std::size_t i = 1; i < sum.operands.size(); ++i) {
    const Operand& of = sum.operands[i];
    const Operand* const rest = is_register(of) ? addend_to(sum, of.index) : nullptr;
    if (rest == nullptr || !is_left_alone(*rest)) continue;
    const int inner = last_writer(body, of.index, first, end);
    if (inner < 0 || last_writer(body, of.index, first, inner) >= 0) continue;
    const ptx::Instruction& source = body.instructions[static_cast<std::size_t>(inner)];
    const bool copies_back = source.opcode.starts_with("mov") && source.operands.size() == 2 &&
                             is_register(source.operands[1]) && source.operands[1].index == reg;
    if (copies_back) return *rest;
    if (const Operand* const step = addend_to(source, of.index); step != nullptr && is_left_alone(*step)) return *step;
  }
  return std::nullopt;
}

}  // namespace

std::optional<CountedLoop> counted_loop(const ptx::Kernel& body, int branch) {
  const ptx::Instruction& jump = body.instructions[static_cast<std::size_t>(branch)];
  if (!jump.opcode.starts_with("bra") || jump.predicate < 0 || jump.operands.empty()) return std::nullopt;
  const int first = jump.operands[0].index;
  if (first < 0 || first > branch) return std::nullopt;
  CountedLoop loop;
  loop.comparison = last_writer(body, jump.predicate, first, branch);
  if (loop.comparison < 0) return std::nullopt;
  const ptx::Instruction& comparison = body.instructions[static_cast<std::size_t>(loop.comparison)];
  const auto type = result_type(comparison);
  const bool is_whole = type && type->type_class != ptx::TypeClass::floating && type->bits >= 32;
  if (!comparison.opcode.starts_with("setp.") || ptx::split_opcode(comparison.opcode).size() != 3 || !is_whole ||
      comparison.operands.size() != 3 || comparison.operands[0].kind != OperandKind::register_ ||
      comparison.predicate >= 0) {
    return std::nullopt;
  }
  loop.goes_on_if_true = !jump.predicate_negated;
  for (const std::size_t counter : {std::size_t{1}, std::size_t{2}}) {
    const Operand& operand = comparison.operands[counter];
    if (!is_register(operand) || last_writer(body, operand.index, loop.comparison, branch) >= 0) continue;
    if (const auto step = step_of(body, operand.index, first, branch)) {
      loop.counter = counter;
      loop.step = *step;
      return loop;
    }
  }
  return std::nullopt;
}

}  // namespace convladder::simulated
