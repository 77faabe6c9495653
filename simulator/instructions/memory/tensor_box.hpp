// The data moved by a copy by tensor map: the places of its box's elements in global and in shared memory (PTX ISA
// 9.0, 5.5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/memory/tensor_map.hpp"

namespace convladder::simulated {

enum class BoxAccess : std::uint8_t {
  tile,
  rows,   ///< .tile::gather4, .tile::scatter4: four rows of a tensor of two dimensions
  im2col  ///< .im2col, .im2col_no_offs
};

/// The place of a box that an instruction names.
struct BoxPlace {
  BoxAccess access = BoxAccess::tile;
  std::size_t dimensions = 1;              ///< dimensions that the instruction names
  std::array<std::int32_t, 5> first{};     ///< the element in each dimension; for `rows`, the column and four rows
  std::array<std::uint16_t, 3> offsets{};  ///< for im2col, from the second dimension on
  bool writes = false;                     ///< whether it writes to global memory
};

/// The error of a box of this tensor map at this place, in a line; empty if there is none.
std::string problem_of(const TensorMap& map, const BoxPlace& place);

/// Elements that are contiguous in global memory and in the box.
struct BoxRow {
  std::uint64_t address = 0;
  std::size_t first = 0;  ///< byte of the box, before swizzling
  std::size_t bytes = 0;
};

/// The part of the box inside the tensor, row by row.
std::vector<BoxRow> rows_of(const TensorMap& map, const BoxPlace& place);
std::uint64_t bytes_of(const TensorMap& map, const BoxPlace& place);

/// The bytes of a box read wholly out of bounds: zeros, or OOB-NaN everywhere.
std::vector<std::byte> filled_box(const TensorMap& map, std::uint64_t bytes);

/// A piece of a box that is contiguous in shared memory.
struct BoxPiece {
  std::uint64_t offset = 0;  ///< in shared memory
  std::size_t first = 0;     ///< byte of the box, before swizzling
  std::size_t bytes = 0;
};

/// The pieces of a box of `bytes` bytes that begins at `offset` of shared memory, in ascending order of offsets.
std::vector<BoxPiece> pieces_of(const TensorMap& map, std::uint64_t offset, std::uint64_t bytes);

}  // namespace convladder::simulated
