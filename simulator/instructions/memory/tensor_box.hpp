// What a copy by tensor map moves: where the elements of its box lie in global memory, and where in shared memory
// (PTX ISA 9.0, 5.5).
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

/// Where an instruction wants a box.
struct BoxPlace {
  BoxAccess access = BoxAccess::tile;
  std::size_t dimensions = 1;              ///< that the instruction names
  std::array<std::int32_t, 5> first{};     ///< element in each dimension; of `rows` the column and four rows
  std::array<std::uint16_t, 3> offsets{};  ///< of im2col, from the second dimension on
  bool writes = false;                     ///< to global memory
};

/// What is wrong with the box of this tensor map at this place, in a line; empty: nothing.
std::string problem_of(const TensorMap& map, const BoxPlace& place);

/// Elements that lie side by side in global memory and in the box.
struct BoxRow {
  std::uint64_t address = 0;
  std::size_t first = 0;  ///< byte of the box, before it is swizzled
  std::size_t bytes = 0;
};

/// What of the box lies inside of the tensor, row by row.
std::vector<BoxRow> rows_of(const TensorMap& map, const BoxPlace& place);
std::uint64_t bytes_of(const TensorMap& map, const BoxPlace& place);

/// The bytes of a box as an out-of-bounds read leaves them: zeros, or OOB-NaN everywhere.
std::vector<std::byte> filled_box(const TensorMap& map, std::uint64_t bytes);

/// A piece of a box that lies as a whole in shared memory.
struct BoxPiece {
  std::uint64_t offset = 0;  ///< in shared memory
  std::size_t first = 0;     ///< byte of the box, before it is swizzled
  std::size_t bytes = 0;
};

/// Where a box of so many bytes that begins at `offset` of shared memory has its pieces, in ascending order of offsets.
std::vector<BoxPiece> pieces_of(const TensorMap& map, std::uint64_t offset, std::uint64_t bytes);

}  // namespace convladder::simulated
