// NumPy's .npy files: one array with its type and shape.
//
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1.0 to 3.0. Only what a
// kernel's buffer can be is read: little-endian numbers in C order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "support/element_type.hpp"

namespace convladder {

struct NpyArray {
  ElementType type = ElementType::f32;
  std::vector<std::size_t> shape;  ///< empty for a single number
  std::vector<std::byte> bytes;    ///< elements in C order, little-endian
};

/// Parses a whole .npy file. Throws UserError "FILE: byte N: what is wrong" for anything else, also for bytes that are
/// missing or left over.
NpyArray parse_npy(std::span<const std::byte> content, const std::string& file);

/// The content of a .npy file, version 1.0. `array.bytes` has as many elements as the shape says.
std::vector<std::byte> npy_bytes(const NpyArray& array);

}  // namespace convladder
