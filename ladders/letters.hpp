// The characters that names in a folder are made of, and those around them. ASCII, whatever the locale.
#pragma once

#include <cstddef>
#include <string_view>

namespace convladder {

inline constexpr std::size_t kLongestLadderName = 60;

constexpr bool is_small_letter(char one) { return one >= 'a' && one <= 'z'; }
constexpr bool is_capital(char one) { return one >= 'A' && one <= 'Z'; }
constexpr bool is_letter(char one) { return is_small_letter(one) || is_capital(one); }
constexpr bool is_digit(char one) { return one >= '0' && one <= '9'; }
/// Whether the character may stand in a C identifier behind the first.
constexpr bool is_of_identifier(char one) { return is_letter(one) || is_digit(one) || one == '_'; }

/// The text without the spaces before and behind it.
constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace convladder
