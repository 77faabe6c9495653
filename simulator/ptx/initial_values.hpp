// Initial values of variables (PTX ISA 9.0, 5.4.4): numbers, addresses and texts, in nested braces.
#pragma once

#include <vector>

#include "simulator/ptx/module.hpp"
#include "simulator/ptx/names.hpp"
#include "simulator/ptx/token_reader.hpp"

namespace convladder::ptx {

/// Takes the text after the '='. `sizes` are the array's; an omitted first size, 0, becomes as large as the values
/// need.
void take_initial_values(TokenReader& tokens, const Names& names, Type type, int vector_elements,
                         const std::vector<std::uint64_t>& sizes, Symbol& symbol);

}  // namespace convladder::ptx
