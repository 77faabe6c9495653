// The positions of the elements of a sparse matrix: the metadata of mma.sp (PTX ISA 9.0, 9.7.15.6.1).
//
// Two of every four elements of a row are present, each with two bits for its position; for s4 and u4 every element
// is a pair of neighbours; for tf32 one of two is present, with four bits. A piece of metadata is 16 bits for types of
// 16 bits and more, 32 bits for narrower ones, and covers 16 elements of a row of f16, 8 of tf32, 32 of s8, 64 of s4.
// The four lanes 4g to 4g + 3 have the pieces of the rows g and g + 8: pieces of 16 bits are both in one lane, with
// that of row g in the lower half, and the next pieces in the next lane; pieces of 32 bits are in two lanes, and the
// next pieces in the next two. The selector names the first lane where not all four are needed. The ISA shows this in
// figures.

#include "simulator/instructions/matrix/matrix_products.hpp"

namespace convladder::simulated {

void sparse_positions(const WarpState& warp, const Product& product, Slot metadata, int selector, int* positions) {
  const auto* const words = warp.read<std::uint32_t>(metadata);
  const ElementType type = product.a.type();
  const int bits = element_bits(type);
  const bool whole_words = bits <= 8;
  const int elements = type == ElementType::tf32 ? 4
                       : bits == 16              ? 8
                       : bits == 8               ? 16
                                                 : 32;  // of a piece, present ones
  const int pieces = product.a.columns() / elements;
  const int lanes = whole_words ? 2 : 1;  // of a piece
  const int first_lane = selector * lanes * pieces;
  for (int row = 0; row < product.a.rows(); ++row) {
    for (int column = 0; column < product.a.columns(); ++column) {
      const int piece = column / elements;
      const int lane = (4 * (row % 8) + first_lane + piece * lanes + (whole_words ? row / 8 : 0)) % kLanes;
      const std::uint32_t word = words[lane] >> (whole_words ? 0 : 16 * (row / 8));
      const int i = column % elements;
      int place = 0;
      if (type == ElementType::tf32) {
        place = 2 * i + static_cast<int>((word >> (4 * i + 1)) & 1U);
      } else if (bits == 4) {
        place = 8 * (i / 4) + 2 * static_cast<int>((word >> (2 * (i / 2))) & 3U) + i % 2;
      } else {
        place = 4 * (i / 2) + static_cast<int>((word >> (2 * i)) & 3U);
      }
      positions[row * product.a.columns() + column] = 2 * elements * piece + place;
    }
  }
}

}  // namespace convladder::simulated
