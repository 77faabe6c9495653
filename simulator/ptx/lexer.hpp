// Splits PTX text into tokens.
//
// Lexical structure: PTX ISA 9.0, chapter 4 "Syntax".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/ptx/module.hpp"

namespace convladder::ptx {

enum class TokenKind {
  word,         ///< identifiers, opcodes with their modifiers, directives: "%r1", "ld.global.f32", ".reg", "%tid.x"
  integer,      ///< "42", "0x1F", "0b101", "017", each also with a trailing U
  single,       ///< "0f3F800000": the bits of a 32-bit float
  double_,      ///< "0d3FF0000000000000", or decimal: the bits of a 64-bit float
  text,         ///< "…" without its quotes
  punctuation,  ///< one of , ; : ( ) [ ] { } < > @ ! | = + - * / & ^ ~ ? << >> <= >= == != && ||
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;     ///< into the source
  std::uint64_t number = 0;  ///< value of an integer, bits of a float
  Position position;

  bool is(std::string_view punctuation_or_word) const { return kind != TokenKind::text && text == punctuation_or_word; }
};

/// All tokens, the last of kind `end`. `source` must outlive them. Throws PtxError, naming `file`.
std::vector<Token> tokenize(std::string_view source, const std::string& file);

}  // namespace convladder::ptx
