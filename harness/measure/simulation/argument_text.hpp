// Parts of the texts of kernel arguments: "in:f32:iota:64x32", "tensor:@x:f32:20x7:box=4x3".
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace convladder {

/// Takes the text before the next colon, or all of it, out of `rest`, with the colon.
inline std::string_view take_field(std::string_view& rest) {
  const std::size_t colon = rest.find(':');
  const std::string_view field = rest.substr(0, colon);
  rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  return field;
}

/// "64x32" -> 64, 32. None if one of them is no whole number of the type.
template <typename Number>
std::optional<std::vector<Number>> parse_sizes(std::string_view text) {
  std::vector<Number> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    Number size = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, size);
    if (error != std::errc() || stop != text.data() + end) return std::nullopt;
    sizes.push_back(size);
    begin = end + 1;
  }
  return sizes;
}

}  // namespace convladder
