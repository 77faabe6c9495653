#include "devices/simulated/execution/forms.hpp"

#include <algorithm>
#include <stdexcept>

namespace convladder::simulated {

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

}  // namespace convladder::simulated
