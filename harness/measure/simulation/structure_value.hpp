// Values that hold addresses of buffers: a pointer into a buffer, and structures laid out as C does.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// The address of a buffer within a value, to be filled in when the buffer has one.
struct BufferAddress {
  std::size_t at = 0;  ///< the byte of the value at which it begins
  std::string buffer;  ///< its name
  std::uint64_t offset = 0;
};

struct StructureValue {
  std::vector<std::byte> bytes;  ///< zero where an address belongs, and between the fields
  std::vector<BufferAddress> addresses;
  std::size_t alignment = 1;
};

// Parts of the texts of kernel arguments: "in:f32:iota:64x32", "tensor:@x:f32:20x7:box=4x3".

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

/// Parses "@x" or "@x+64", in bytes. Throws UserError that starts with `what`.
BufferAddress parse_buffer_address(std::string_view what, std::string_view text);

/// Parses "{u64:@x+64,@y,i32:5,{f32:0.5,u8:1},f32:[1,2,3]}": numbers, addresses (with or without u64), structures and
/// arrays, each aligned to its own size, the whole padded to the largest alignment. Throws UserError that starts with
/// `what`.
StructureValue parse_structure(std::string_view what, std::string_view text);

}  // namespace convladder
