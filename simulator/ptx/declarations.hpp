// Declarations of variables and parameters (PTX ISA 9.0, 5.4).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "simulator/ptx/module.hpp"
#include "simulator/ptx/names.hpp"
#include "simulator/ptx/token_reader.hpp"

namespace convladder::ptx {

/// Called with every variable that is read and with the size of its elements.
using DeclareVariable = std::function<void(Symbol symbol, int element_bytes)>;

/// Takes ".align 4 .v2 .f32 name[8] = {…}", and more variables of the same type after commas, up to the semicolon: the
/// text after the name of the state space. `names` are those that initial values may have as addresses.
void take_variables(TokenReader& tokens, const Names& names, Space space, bool is_extern,
                    const DeclareVariable& declare);

/// A parameter of a kernel or a function.
struct Parameter {
  Symbol symbol;
  std::optional<Type> register_type;  ///< for ".reg .f32 name": it is passed in a register
};
/// Takes ".param .align 4 .b8 name[44]", ".param .u64 .ptr .global .align 4 name", ".reg .f32 name".
Parameter take_parameter(TokenReader& tokens);

/// Takes "[4][8]" as the product; 1 without brackets, 0 if a size is omitted.
std::uint64_t take_element_count(TokenReader& tokens);

}  // namespace convladder::ptx
