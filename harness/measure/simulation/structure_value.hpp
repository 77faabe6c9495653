// Values that hold addresses of buffers: a pointer into a buffer, and structures laid out as C does.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// Parses "@x" or "@x+64", in bytes. Throws UserError that starts with `what`.
BufferAddress parse_buffer_address(std::string_view what, std::string_view text);

/// Parses "{u64:@x+64,@y,i32:5,{f32:0.5,u8:1},f32:[1,2,3]}": numbers, addresses (with or without u64), structures and
/// arrays, each aligned to its own size, the whole padded to the largest alignment. Throws UserError that starts with
/// `what`.
StructureValue parse_structure(std::string_view what, std::string_view text);

}  // namespace convladder
