// Constant expressions (PTX ISA 9.0, 4.5.5): "8", "-0f3F800000", "(1 << 4) + 3 * N", "x < 3 ? 1 : 2".
#pragma once

#include "simulator/ptx/module.hpp"
#include "simulator/ptx/token_reader.hpp"

namespace convladder::ptx {

struct ConstantValue {
  NumberKind kind = NumberKind::integer;
  std::uint64_t bits = 0;    ///< two's complement, or the float's bits
  bool is_unsigned = false;  ///< for an integer: how it is compared, divided and shifted to the right
};

/// Whether an expression begins at the current token.
bool begins_expression(const TokenReader& tokens);
/// Takes the longest expression that begins at the current token.
ConstantValue take_constant(TokenReader& tokens);
/// Takes an expression that is an integer from 0 to `largest`; `what` is for the message: "an array's size".
std::uint64_t take_constant_integer(TokenReader& tokens, const char* what, std::uint64_t largest);

}  // namespace convladder::ptx
