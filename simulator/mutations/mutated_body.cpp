// Writes the instructions of a mutant.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "simulator/mutations/loops.hpp"
#include "simulator/mutations/mutation.hpp"
#include "simulator/mutations/opcode_facts.hpp"
#include "simulator/mutations/value_types.hpp"
#include "simulator/ptx/opcode_parts.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

constexpr ptx::Type kPredicate{ptx::TypeClass::predicate, 1};

Operand register_operand(int index) {
  Operand operand;
  operand.kind = OperandKind::register_;
  operand.index = index;
  return operand;
}

Operand whole_number(std::uint64_t bits) {
  Operand operand;
  operand.bits = bits;
  return operand;
}

Operand float32(float value) {
  Operand operand;
  operand.bits = std::bit_cast<std::uint32_t>(value);
  operand.number = ptx::NumberKind::single;
  return operand;
}

Operand float64(double value) {
  Operand operand;
  operand.bits = std::bit_cast<std::uint64_t>(value);
  operand.number = ptx::NumberKind::double_;
  return operand;
}

Operand special(std::string name) {
  Operand operand;
  operand.kind = OperandKind::special;
  operand.name = std::move(name);
  return operand;
}

constexpr float kFactor = 0.72F;

/// How instructions compute with a type of floats.
struct FloatForm {
  const char* suffix;
  ptx::Type type;  ///< of a register for it
  Operand factor;  ///< kFactor
};

/// None for whole numbers.
std::optional<FloatForm> float_form(ValueType type) {
  constexpr auto kBits = ptx::TypeClass::bits;
  switch (type) {
    case ValueType::float32:
      return FloatForm{"f32", {ptx::TypeClass::floating, 32}, float32(kFactor)};
    case ValueType::float64:
      return FloatForm{"f64", {ptx::TypeClass::floating, 64}, float64(kFactor)};
    case ValueType::float16:
      return FloatForm{"f16", {kBits, 16}, whole_number(0x39c3)};
    case ValueType::bfloat16:
      return FloatForm{"bf16", {kBits, 16}, whole_number(0x3f38)};
    case ValueType::float16_pair:
      return FloatForm{"f16x2", {kBits, 32}, whole_number(0x39c339c3)};
    case ValueType::bfloat16_pair:
      return FloatForm{"bf16x2", {kBits, 32}, whole_number(0x3f383f38)};
    case ValueType::whole:
      break;
  }
  return std::nullopt;
}

class Mutator {
 public:
  Mutator(const ptx::Kernel& body, const Mutation& mutation)
      : body_(body), mutation_(mutation), edits_(body.instructions.size()) {}

  ptx::Kernel run() {
    registers_ = body_.registers;
    if (mutation_.kind == MutationKind::last_block) leave_last_block_out();
    for (const int index : mutation_.instructions) edit(index);
    return assemble();
  }

 private:
  struct Edit {
    std::vector<Instruction> before;
    std::vector<Instruction> after;
    std::optional<Instruction> replaced;
  };

  const Instruction& at(int index) const { return body_.instructions[static_cast<std::size_t>(index)]; }

  int new_register(ptx::Type type) {
    registers_.push_back({fmt::format("%mutant{}", registers_.size()), type});
    return static_cast<int>(registers_.size()) - 1;
  }

  /// An instruction at the place of another.
  static Instruction make(const Instruction& at, std::string opcode, std::vector<Operand> operands) {
    Instruction made;
    made.opcode = std::move(opcode);
    made.operands = std::move(operands);
    made.position = at.position;
    made.source = at.source;
    return made;
  }

  void edit(int index) {
    const Instruction& instruction = at(index);
    Edit& edit = edits_[static_cast<std::size_t>(index)];
    switch (mutation_.kind) {
      case MutationKind::store_out:
        return leave_store_out(instruction, edit);
      case MutationKind::zeros:
      case MutationKind::sign:
      case MutationKind::scaled:
        return change_value(index, edit);
      case MutationKind::low_precision:
        return round(instruction, edit);
      case MutationKind::last_trip:
        return end_early(index, edit);
      case MutationKind::load_index:
        return move_address(instruction, load_facts(instruction)->address, load_facts(instruction)->bytes, edit);
      case MutationKind::store_index: {
        const auto address = static_cast<std::size_t>(store_facts(instruction)->address - instruction.operands.data());
        return move_address(instruction, address, ptx::moved_bytes(ptx::split_opcode(instruction.opcode)), edit);
      }
      case MutationKind::wait_out:
        if (instruction.opcode.starts_with("mbarrier")) return end_wait(instruction, edit);
        edit.replaced = nothing(instruction);
        return;
      case MutationKind::barrier_out:
      case MutationKind::fence_out:
        edit.replaced = nothing(instruction);
        return;
      case MutationKind::last_block:
      case MutationKind::stale:
        return;
    }
  }

  static Instruction nothing(const Instruction& at) { return make(at, "pmevent", {whole_number(0)}); }

  /// An atomic whose result is used still reads.
  void leave_store_out(const Instruction& instruction, Edit& edit) {
    if (!instruction.opcode.starts_with("atom") || instruction.operands[0].kind != OperandKind::register_) {
      edit.replaced = nothing(instruction);
      return;
    }
    const int bits = registers_[static_cast<std::size_t>(instruction.operands[0].index)].type.bits;
    Instruction load =
        make(instruction, fmt::format("ld.b{}", bits), {instruction.operands[0], instruction.operands[1]});
    for (const std::string_view part : ptx::split_opcode(instruction.opcode)) {
      if (part == "global" || part.starts_with("shared")) load.opcode = fmt::format("ld.{}.b{}", part, bits);
    }
    load.predicate = instruction.predicate;
    load.predicate_negated = instruction.predicate_negated;
    edit.replaced = std::move(load);
  }

  /// Adds the instructions that change a value, and returns what has the changed one.
  Operand changed(const Operand& value, int index, std::vector<Instruction>& before) {
    const Instruction& store = at(index);
    if (mutation_.kind == MutationKind::zeros && value.kind != OperandKind::register_) return whole_number(0);
    if (value.kind != OperandKind::register_) return changed_constant(value);
    const ptx::Type reg_type = registers_[static_cast<std::size_t>(value.index)].type;
    const int result = new_register(reg_type);
    const Operand to = register_operand(result);
    const int bits = reg_type.bits;
    if (bits == 128) return value;  // no instruction computes with it
    if (mutation_.kind == MutationKind::zeros) {
      const bool is_double = reg_type.type_class == ptx::TypeClass::floating && bits == 64;
      const bool is_single = reg_type.type_class == ptx::TypeClass::floating && bits == 32;
      const Operand zero = is_double ? float64(0) : is_single ? float32(0) : whole_number(0);
      const std::string type = reg_type.type_class == ptx::TypeClass::floating ? "f" : "b";
      before.push_back(make(store, fmt::format("mov.{}{}", type, bits), {to, zero}));
      return to;
    }
    const bool is_sign = mutation_.kind == MutationKind::sign;
    const auto add = [&](std::string opcode, std::vector<Operand> operands) {
      before.push_back(make(store, std::move(opcode), std::move(operands)));
    };
    const std::optional<FloatForm> form = float_form(value_type(body_, value.index, index));
    if (form && form->type.bits == bits && is_sign) {
      add(fmt::format("neg.{}", form->suffix), {to, value});
      return to;
    }
    if (form && form->type.bits == bits) {
      const Operand factor = register_operand(new_register(form->type));
      const bool has_bits = form->type.type_class == ptx::TypeClass::bits;
      add(has_bits ? fmt::format("mov.b{}", bits) : fmt::format("mov.{}", form->suffix), {factor, form->factor});
      add(fmt::format("mul.{}", form->suffix), {to, value, factor});
      return to;
    }
    // A register of floats is taken as bits: what it holds is not known.
    Operand from = value;
    Operand into = to;
    const bool is_float = reg_type.type_class == ptx::TypeClass::floating;
    if (is_float) {
      from = register_operand(new_register({ptx::TypeClass::bits, bits}));
      into = register_operand(new_register({ptx::TypeClass::bits, bits}));
      add(fmt::format("mov.b{}", bits), {from, value});
    }
    if (is_sign) {
      add(fmt::format("neg.s{}", bits), {into, from});
    } else {
      const Operand quarter = register_operand(new_register({ptx::TypeClass::bits, bits}));
      add(fmt::format("shr.s{}", bits), {quarter, from, whole_number(2)});
      add(fmt::format("sub.s{}", bits), {into, from, quarter});
    }
    if (is_float) add(fmt::format("mov.b{}", bits), {to, into});
    return to;
  }

  Operand changed_constant(const Operand& value) const {
    const bool is_sign = mutation_.kind == MutationKind::sign;
    Operand changed = value;
    if (value.number == ptx::NumberKind::single) {
      const float number = std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
      changed.bits = std::bit_cast<std::uint32_t>(is_sign ? -number : number * kFactor);
    } else if (value.number == ptx::NumberKind::double_) {
      const double number = std::bit_cast<double>(value.bits);
      changed.bits = std::bit_cast<std::uint64_t>(is_sign ? -number : number * kFactor);
    } else if (value.kind == OperandKind::immediate) {
      const auto number = static_cast<std::int64_t>(value.bits);
      changed.bits = is_sign ? 0 - value.bits : static_cast<std::uint64_t>(number - (number >> 2));
    }
    return changed;
  }

  void change_value(int index, Edit& edit) {
    Instruction store = at(index);
    Operand& value = store.operands[store_facts(store)->value_index];
    if (value.elements.empty()) {
      value = changed(value, index, edit.before);
    } else {
      for (Operand& element : value.elements) element = changed(element, index, edit.before);
    }
    edit.replaced = std::move(store);
  }

  /// Rounds the result to fewer bits and back.
  void round(const Instruction& instruction, Edit& edit) {
    const bool is_double = result_type(instruction)->bits == 64;
    const auto add = [&](const Operand& result) {
      if (result.kind != OperandKind::register_) return;
      const ptx::Type reg_type = registers_[static_cast<std::size_t>(result.index)].type;
      if (reg_type.bits != (is_double ? 64 : 32)) return;
      const Operand narrow = register_operand(
          new_register({is_double ? ptx::TypeClass::floating : ptx::TypeClass::bits, is_double ? 32 : 16}));
      const auto add_one = [&](const char* opcode, const Operand& to, const Operand& from) {
        Instruction rounding = make(instruction, opcode, {to, from});
        rounding.predicate = instruction.predicate;
        rounding.predicate_negated = instruction.predicate_negated;
        edit.after.push_back(std::move(rounding));
      };
      add_one(is_double ? "cvt.rn.f32.f64" : "cvt.rn.f16.f32", narrow, result);
      add_one(is_double ? "cvt.f64.f32" : "cvt.f32.f16", result, narrow);
    };
    const Operand& result = instruction.operands.front();
    if (result.elements.empty()) add(result);
    for (const Operand& element : result.elements) add(element);
  }

  /// Lets the loop go on only where it would after one trip more, too.
  void end_early(int index, Edit& edit) {
    const CountedLoop loop = *counted_loop(body_, index);
    const Instruction& comparison = at(loop.comparison);
    const Operand& counter = comparison.operands[loop.counter];
    const int bits = registers_[static_cast<std::size_t>(counter.index)].type.bits;
    const Operand later = register_operand(new_register({ptx::TypeClass::bits, bits}));
    const Operand goes_on_later = register_operand(new_register(kPredicate));
    const Operand goes_on = register_operand(new_register(kPredicate));
    Instruction jump = at(index);
    edit.before.push_back(make(jump, fmt::format("add.s{}", bits), {later, counter, loop.step}));
    Instruction again = make(jump, comparison.opcode, comparison.operands);
    again.operands[0] = goes_on_later;
    again.operands[loop.counter] = later;
    edit.before.push_back(std::move(again));
    edit.before.push_back(make(jump, loop.goes_on_if_true ? "and.pred" : "or.pred",
                               {goes_on, register_operand(jump.predicate), goes_on_later}));
    jump.predicate = goes_on.index;
    edit.replaced = std::move(jump);
  }

  /// Lets an access go to the other element of a pair: it stays inside of what is allocated.
  void move_address(const Instruction& instruction, std::size_t operand, int bytes, Edit& edit) {
    Instruction moved = instruction;
    Operand& address = moved.operands[operand];
    const int bits = registers_[static_cast<std::size_t>(address.index)].type.bits;
    const Operand sum = register_operand(new_register({ptx::TypeClass::bits, bits}));
    const Operand other = register_operand(new_register({ptx::TypeClass::bits, bits}));
    edit.before.push_back(
        make(instruction, fmt::format("add.s{}", bits),
             {sum, register_operand(address.index), whole_number(static_cast<std::uint64_t>(address.offset))}));
    edit.before.push_back(
        make(instruction, fmt::format("xor.b{}", bits), {other, sum, whole_number(static_cast<std::uint64_t>(bytes))}));
    address.index = other.index;
    address.offset = 0;
    edit.replaced = std::move(moved);
  }

  /// Tells a wait at an mbarrier that its phase is over.
  void end_wait(const Instruction& instruction, Edit& edit) {
    const Operand zero = register_operand(new_register({ptx::TypeClass::bits, 32}));
    edit.before.push_back(make(instruction, "mov.u32", {zero, whole_number(0)}));
    edit.replaced = make(instruction, "setp.eq.u32", {instruction.operands[0], zero, zero});
  }

  void leave_last_block_out() {
    if (body_.instructions.empty()) return;
    const Instruction& first = at(0);
    std::vector<Instruction>& before = edits_[0].before;
    int all = -1;
    for (const char axis : {'x', 'y', 'z'}) {
      const Operand index = register_operand(new_register({ptx::TypeClass::bits, 32}));
      const Operand count = register_operand(new_register({ptx::TypeClass::bits, 32}));
      const Operand next = register_operand(new_register({ptx::TypeClass::bits, 32}));
      const Operand is_last = register_operand(new_register(kPredicate));
      before.push_back(make(first, "mov.u32", {index, special(fmt::format("%ctaid.{}", axis))}));
      before.push_back(make(first, "mov.u32", {count, special(fmt::format("%nctaid.{}", axis))}));
      before.push_back(make(first, "add.s32", {next, index, whole_number(1)}));
      before.push_back(make(first, "setp.eq.u32", {is_last, next, count}));
      if (all < 0) {
        all = is_last.index;
        continue;
      }
      const Operand both = register_operand(new_register(kPredicate));
      before.push_back(make(first, "and.pred", {both, register_operand(all), is_last}));
      all = both.index;
    }
    Instruction end = make(first, "exit", {});
    end.predicate = all;
    before.push_back(std::move(end));
  }

  ptx::Kernel assemble() {
    ptx::Kernel mutant = body_;
    mutant.registers = std::move(registers_);
    mutant.instructions.clear();
    std::vector<int> places;  // of the old instructions, and of the end
    for (std::size_t i = 0; i < body_.instructions.size(); ++i) {
      places.push_back(static_cast<int>(mutant.instructions.size()));
      Edit& edit = edits_[i];
      std::ranges::move(edit.before, std::back_inserter(mutant.instructions));
      mutant.instructions.push_back(edit.replaced ? std::move(*edit.replaced) : body_.instructions[i]);
      std::ranges::move(edit.after, std::back_inserter(mutant.instructions));
    }
    places.push_back(static_cast<int>(mutant.instructions.size()));
    const auto place = [&](const auto& self, Operand& operand) -> void {
      if (operand.kind == OperandKind::label && operand.index >= 0) {
        operand.index = places[static_cast<std::size_t>(operand.index)];
      }
      for (Operand& element : operand.elements) self(self, element);
    };
    for (Instruction& instruction : mutant.instructions) {
      for (Operand& operand : instruction.operands) place(place, operand);
    }
    return mutant;
  }

  const ptx::Kernel& body_;
  const Mutation& mutation_;
  std::vector<Edit> edits_;
  std::vector<ptx::Register> registers_;
};

}  // namespace

ptx::Kernel mutated(const ptx::Kernel& body, const Mutation& mutation) { return Mutator(body, mutation).run(); }

}  // namespace convladder::simulated
