// The instructions that the simulated device knows: full opcode, operands, and the function that executes them.
//
// Each subject has its own file (integer.cpp, floating_point.cpp, …) that adds its forms; memory accesses and control
// flow have too many spellings for a table and are decoded on their own.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulator/state/warps_in_lockstep.hpp"

namespace convladder::simulated {

/// How a form uses an operand.
enum class OperandUse : std::uint8_t {
  write_32,  ///< a destination of up to 32 bits
  write_64,
  write_signed_32,  ///< as `write_32`, but the upper part of a wider register is filled with the sign, not zero
  write_predicate,
  write_predicate_pair,    ///< "p|q", or only p: takes two slots
  write_32_and_predicate,  ///< "d|p": takes two slots
  read_32,
  read_64,
  read_predicate,
  immediate,  ///< an integer constant: becomes Operation::offset and takes no slot
  carry,      ///< the warp's condition code register: not in the text, but takes a predicate slot
};

/// One full opcode.
struct Form {
  std::vector<OperandUse> operands;
  Handler handler = nullptr;
  std::int64_t parameter = 0;          ///< distinguishes forms of one handler: becomes Operation::offset
  LockstepHandler lockstep = nullptr;  ///< for several warps; none: each warp does it alone
};

class FormTable {
 public:
  void add(const std::string& opcode, std::span<const OperandUse> operands, Handler handler, std::int64_t parameter = 0,
           LockstepHandler lockstep = nullptr);
  void add(const std::string& opcode, std::initializer_list<OperandUse> operands, Handler handler,
           std::int64_t parameter = 0, LockstepHandler lockstep = nullptr) {
    add(opcode, std::span(operands.begin(), operands.size()), handler, parameter, lockstep);
  }
  const Form* find(std::string_view opcode) const;
  /// As `find`, with the modifiers in any order, which ptxas also accepts: "div.ftz.rn.f32". Types keep their order.
  const Form* find_in_any_order(std::string_view opcode) const;
  /// All opcodes, sorted: for the documentation and the tests, which cover each of them.
  std::vector<std::string> opcodes() const;

 private:
  std::unordered_map<std::string, Form> forms_;
  std::unordered_map<std::string, std::string> spelling_;  ///< the spelling of a form, by `sorted_opcode`
};

/// The name of a form whose opcode is shared by a form with fewer operands: "min.f32 of 3".
std::string form_of(const std::string& opcode, std::size_t sources);

/// Every form there is.
const FormTable& forms();

// Functions that the files of the subjects define.
void add_integer_forms(FormTable& table);
void add_integer_product_forms(FormTable& table);
void add_bit_field_forms(FormTable& table);
void add_extended_precision_forms(FormTable& table);
void add_floating_point_forms(FormTable& table);
void add_directed_rounding_forms(FormTable& table);
void add_half_precision_forms(FormTable& table);
void add_comparison_forms(FormTable& table);
void add_selection_forms(FormTable& table);
void add_conversion_forms(FormTable& table);
void add_float_conversion_forms(FormTable& table);
void add_narrow_conversion_forms(FormTable& table);
void add_data_movement_forms(FormTable& table);

}  // namespace convladder::simulated
