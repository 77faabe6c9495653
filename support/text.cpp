#include "support/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "support/errors.hpp"

namespace convladder {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  } while (begin < text.size());
  return parts;
}

int parse_whole_number(std::string_view what, std::string_view text, int smallest, int largest) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.starts_with('-') || error != std::errc() || end != text.data() + text.size() || value < smallest ||
      value > largest) {
    throw UserError(fmt::format("{}: expected a whole number from {} to {}, got '{}'", what, smallest, largest, text));
  }
  return value;
}

std::vector<char*> null_terminated(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace convladder
