// Copies of A and B as floats, in the order in which the register tile of the matrix multiplication reads them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "half_floats.hpp"
#include "packed_blocks.hpp"

namespace half_blocks {

using register_tile::kColumns;
using register_tile::kRows;

/// The deepest block that is packed at once.
constexpr int kMostDepth = 512;

/// Packs a strip of A, `rows` (at most kRows) rows x `depth` (at most kMostDepth), as depth x rows.
inline void pack_rows(const std::uint16_t* a, std::size_t pitch, int rows, int depth, float* to) {
  float floats[kRows * kMostDepth];
  for (int i = 0; i < rows; ++i) half_floats::to_floats(a + i * pitch, depth, floats + i * depth);
  register_tile::pack_rows(floats, static_cast<std::size_t>(depth), rows, depth, to);
}

/// Packs a strip of B, depth x `columns` (at most kColumns) columns, as depth x kColumns padded with zeros.
inline void pack_columns(const std::uint16_t* b, std::size_t pitch, int columns, int depth, float* to) {
  for (int k = 0; k < depth; ++k) {
    half_floats::to_floats(b + k * pitch, columns, to);
    std::fill(to + columns, to + kColumns, 0.0F);
    to += kColumns;
  }
}

}  // namespace half_blocks
