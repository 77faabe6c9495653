#include "ladders/source_literal.hpp"

#include <fmt/format.h>

namespace convladder {
namespace {

constexpr std::size_t kPieceOfLiteral = 4096;  // characters

}  // namespace

std::string source_literal(std::string_view text) {
  std::string written = "\"";
  std::size_t in_piece = 0;
  for (const char one : text) {
    const bool is_plain = one >= ' ' && one <= '~' && one != '"' && one != '\\' && one != '?';
    if (is_plain) {
      written += one;
    } else {
      written += fmt::format("\\{:03o}", static_cast<unsigned char>(one));
    }
    if (one == '\n' || ++in_piece == kPieceOfLiteral) {
      written += "\"\n\"";
      in_piece = 0;
    }
  }
  return written + '"';
}

}  // namespace convladder
