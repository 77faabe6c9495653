// Takes texts apart, and passes them to C.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// The characters of names. ASCII, whatever the locale.
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

/// "a,b" -> "a", "b"; an empty text is one empty part. A separator at the end begins no part.
std::vector<std::string> split(std::string_view text, char separator);

/// The whole number in `text`, from `smallest` to `largest`: without a sign, a fraction or text behind it. Throws
/// UserError that starts with `what`.
int parse_whole_number(std::string_view what, std::string_view text, int smallest, int largest);

/// The beginning of each text, and a null pointer at the end. Valid while the texts exist and do not change.
std::vector<char*> null_terminated(std::vector<std::string>& texts);

}  // namespace convladder
