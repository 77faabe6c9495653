// Parses whole numbers from the command line strictly: no sign, no fraction, no trailing text, no overflow.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

#include "support/errors.hpp"

namespace convladder {

/// The number in `text`, from `smallest` to `largest`. Throws UserError that starts with `what`.
inline int parse_whole_number(std::string_view what, std::string_view text, int smallest, int largest) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.starts_with('-') || error != std::errc() || end != text.data() + text.size() || value < smallest ||
      value > largest) {
    throw UserError(fmt::format("{}: expected a whole number from {} to {}, got '{}'", what, smallest, largest, text));
  }
  return value;
}

}  // namespace convladder
