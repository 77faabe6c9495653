// Splits a text at separators.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// "a,b" -> "a", "b"; an empty text is one empty part. A separator at the end begins no part.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  } while (begin < text.size());
  return parts;
}

}  // namespace convladder
