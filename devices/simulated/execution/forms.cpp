#include "devices/simulated/execution/forms.hpp"

#include <algorithm>
#include <stdexcept>

#include "devices/simulated/execution/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

int wanted_bits(OperandUse use) {
  switch (use) {
    case OperandUse::write_32:
    case OperandUse::read_32:
      return 32;
    case OperandUse::write_64:
    case OperandUse::read_64:
      return 64;
    default:
      return 1;
  }
}

bool is_write(OperandUse use) {
  return use == OperandUse::write_32 || use == OperandUse::write_64 || use == OperandUse::write_predicate;
}

}  // namespace

void FormTable::add(std::string opcode, std::vector<OperandUse> operands, Handler handler) {
  const auto [place, added] = forms_.emplace(std::move(opcode), Form{std::move(operands), handler});
  if (!added) throw std::logic_error("the opcode '" + place->first + "' is defined twice");
}

const Form* FormTable::find(std::string_view opcode) const {
  const auto found = forms_.find(std::string(opcode));
  return found == forms_.end() ? nullptr : &found->second;
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
    add_floating_point_forms(all);
    add_comparison_forms(all);
    add_conversion_forms(all);
    add_data_movement_forms(all);
    return all;
  }();
  return table;
}

bool decode_form(InstructionDecoder& decoder) {
  const Form* const form = forms().find(decoder.instruction().opcode);
  if (form == nullptr) return false;
  decoder.expect_operands(form->operands.size());
  Operation operation;
  operation.handler = form->handler;
  for (std::size_t i = 0; i < form->operands.size(); ++i) {
    const int bits = wanted_bits(form->operands[i]);
    const ptx::Operand& operand = decoder.instruction().operands[i];
    operation.operands[i] =
        is_write(form->operands[i]) ? decoder.write_narrow(operand, bits) : decoder.read(operand, bits);
  }
  decoder.emit(operation);
  decoder.finish_writes();
  return true;
}

}  // namespace convladder::simulated
