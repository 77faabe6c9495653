#include "support/printable.hpp"

#include <cstddef>
#include <cstdint>

namespace convladder {
namespace {

/// The character that a text begins with.
struct FirstCharacter {
  std::size_t bytes = 1;
  bool valid = false;    ///< whether it is valid UTF-8
  bool cut_off = false;  ///< it could become valid with the bytes after the text
  std::uint32_t code = 0;
};

FirstCharacter first_character(std::string_view text) {
  const auto byte = [text](std::size_t at) { return std::uint32_t{static_cast<unsigned char>(text[at])}; };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {.bytes = 1, .valid = true, .cut_off = false, .code = first};
  std::size_t length = 0;
  if (first >= 0xC2 && first < 0xE0) length = 2;
  if (first >= 0xE0 && first < 0xF0) length = 3;
  if (first >= 0xF0 && first < 0xF5) length = 4;
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t next = 1; next < length; ++next) {
    if (next == text.size()) return {.bytes = next, .valid = false, .cut_off = true, .code = 0};
    if ((byte(next) & 0xC0U) != 0x80) return {};
    code = code << 6U | (byte(next) & 0x3FU);
  }
  return {.bytes = length == 0 ? 1 : length, .valid = length > 0, .cut_off = false, .code = code};
}

bool steers_a_terminal(std::uint32_t code) {
  const bool turns_direction =
      (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || turns_direction;
}

}  // namespace

std::string printable_lines(std::string_view text, std::string& rest) {
  const std::string whole = rest + std::string(text);
  rest.clear();
  std::string shown;
  shown.reserve(whole.size());
  for (std::string_view left = whole; !left.empty();) {
    const FirstCharacter one = first_character(left);
    if (one.cut_off) {
      rest = left;
      break;
    }
    if (!one.valid) {
      shown += '?';
    } else if (steers_a_terminal(one.code) && one.code != '\n' && one.code != '\t') {
      shown.append(one.bytes, ' ');
    } else {
      shown += left.substr(0, one.bytes);
    }
    left.remove_prefix(one.bytes);
  }
  return shown;
}

std::string printable(std::string_view text, std::size_t most) {
  if (text.size() > most) return printable(text.substr(0, most - 3)) + "...";
  std::string rest;
  std::string shown = printable_lines(text, rest);
  for (char& c : shown) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return shown + std::string(rest.size(), '?');
}

}  // namespace convladder
