// Initial values of variables (PTX ISA 9.0, 5.4.4): numbers, addresses and texts, in braces within each other.
#pragma once

#include <vector>

#include "simulator/ptx/module.hpp"
#include "simulator/ptx/names.hpp"
#include "simulator/ptx/token_reader.hpp"

namespace convladder::ptx {

/// Behind the '='. `sizes` are the array's, 0 for the first if it is left out: then it becomes what the values need.
void take_initial_values(TokenReader& tokens, const Names& names, Type type, int vector_elements,
                         const std::vector<std::uint64_t>& sizes, Symbol& symbol);

}  // namespace convladder::ptx
