// Operands of instructions (PTX ISA 9.0, chapter 6).
#pragma once

#include "simulator/ptx/module.hpp"
#include "simulator/ptx/names.hpp"
#include "simulator/ptx/token_reader.hpp"

namespace convladder::ptx {

class OperandParser {
 public:
  OperandParser(TokenReader& tokens, const Names& names) : tokens_(tokens), names_(names) {}

  /// Takes an operand, up to what cannot belong to it. Unknown names are labels, whose index is set later.
  Operand take();
  /// Takes "a" or "a|b".
  Operand take_with_pair();

 private:
  Operand immediate();
  Operand address();
  Operand vector();
  Operand named(const Token& word);
  std::int64_t offset();
  std::int64_t array_index(int element_bytes);

  TokenReader& tokens_;
  const Names& names_;
};

}  // namespace convladder::ptx
