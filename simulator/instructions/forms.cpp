#include "simulator/instructions/forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "simulator/instructions/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

int wanted_bits(OperandUse use) {
  switch (use) {
    case OperandUse::write_32:
    case OperandUse::write_signed_32:
    case OperandUse::read_32:
      return 32;
    case OperandUse::write_64:
    case OperandUse::read_64:
      return 64;
    default:
      return 1;
  }
}

/// The slots of "p|q", or of p alone: then nobody reads the second one.
std::array<Slot, 2> predicate_pair(InstructionDecoder& decoder, const ptx::Operand& operand) {
  if (operand.kind != ptx::OperandKind::pair) return {decoder.write(operand, 1), decoder.ignored_predicate()};
  if (operand.elements.size() != 2) decoder.fail("one or two predicates are expected as destination");
  return {decoder.write(operand.elements[0], 1), decoder.write(operand.elements[1], 1)};
}

/// An opcode with its modifiers in a fixed order: those that are no types, sorted, then the types.
std::string sorted_opcode(std::string_view opcode) {
  std::vector<std::string> modifiers;
  std::string types;
  const std::vector<std::string_view> words = ptx::split_opcode(opcode);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string word = fmt::format(".{}", words[i]);
    if (ptx::type_of_suffix(word)) {
      types += word;
    } else {
      modifiers.push_back(word);
    }
  }
  std::ranges::sort(modifiers);
  std::string sorted(words[0]);
  for (const std::string& modifier : modifiers) sorted += modifier;
  return sorted + types;
}

}  // namespace

void FormTable::add(const std::string& opcode, std::span<const OperandUse> operands, Handler handler,
                    std::int64_t parameter, LockstepHandler lockstep) {
  const auto [place, added] =
      forms_.emplace(opcode, Form{{operands.begin(), operands.end()}, handler, parameter, lockstep});
  if (!added) throw std::logic_error("the opcode '" + place->first + "' is defined twice");
  spelling_.emplace(sorted_opcode(opcode), opcode);
}

const Form* FormTable::find(std::string_view opcode) const {
  const auto found = forms_.find(std::string(opcode));
  return found == forms_.end() ? nullptr : &found->second;
}

const Form* FormTable::find_in_any_order(std::string_view opcode) const {
  const auto found = spelling_.find(sorted_opcode(opcode));
  return found == spelling_.end() ? nullptr : find(found->second);
}

std::vector<std::string> FormTable::opcodes() const {
  std::vector<std::string> names;
  for (const auto& [opcode, form] : forms_) names.push_back(opcode);
  std::ranges::sort(names);
  return names;
}

const FormTable& forms() {
  static const FormTable table = [] {
    FormTable all;
    add_integer_forms(all);
    add_integer_product_forms(all);
    add_bit_field_forms(all);
    add_extended_precision_forms(all);
    add_floating_point_forms(all);
    add_directed_rounding_forms(all);
    add_half_precision_forms(all);
    add_comparison_forms(all);
    add_selection_forms(all);
    add_conversion_forms(all);
    add_float_conversion_forms(all);
    add_narrow_conversion_forms(all);
    add_data_movement_forms(all);
    return all;
  }();
  return table;
}

std::string form_of(const std::string& opcode, std::size_t sources) { return fmt::format("{} of {}", opcode, sources); }

bool decode_form(InstructionDecoder& decoder) {
  const std::string& opcode = decoder.instruction().opcode;
  const Form* form = nullptr;
  if (decoder.instruction().operands.size() == 4) form = forms().find(form_of(opcode, 3));
  if (form == nullptr) form = forms().find(opcode);
  if (form == nullptr) form = forms().find_in_any_order(opcode);
  if (form == nullptr) return false;
  decoder.expect_operands(form->operands.size() -
                          static_cast<std::size_t>(std::ranges::count(form->operands, OperandUse::carry)));
  Operation operation;
  operation.handler = form->handler;
  operation.offset = form->parameter;
  Slot* slot = operation.operands;
  auto operand = decoder.instruction().operands.begin();
  for (const OperandUse use : form->operands) {
    switch (use) {
      case OperandUse::carry:
        *slot++ = decoder.condition_code();
        break;
      case OperandUse::immediate:
        if (operand->kind != ptx::OperandKind::immediate) decoder.fail("a constant is expected");
        operation.offset = static_cast<std::int64_t>((operand++)->bits);
        break;
      case OperandUse::write_predicate_pair: {
        const auto both = predicate_pair(decoder, *operand++);
        slot = std::ranges::copy(both, slot).out;
        break;
      }
      case OperandUse::write_32_and_predicate:
        if (operand->elements.size() != 2) decoder.fail("a register and a predicate are expected as destination");
        *slot++ = decoder.write(operand->elements[0], 32);
        *slot++ = decoder.write(operand->elements[1], 1);
        ++operand;
        break;
      case OperandUse::write_32:
      case OperandUse::write_signed_32:
      case OperandUse::write_64:
      case OperandUse::write_predicate:
        *slot++ = decoder.write_narrow(*operand++, wanted_bits(use), use == OperandUse::write_signed_32);
        break;
      default:
        *slot++ = decoder.read(*operand++, wanted_bits(use));
    }
  }
  decoder.emit(operation, form->lockstep);
  decoder.finish_writes();
  return true;
}

}  // namespace convladder::simulated
