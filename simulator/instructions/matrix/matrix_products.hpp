// Which products of matrices there are: mma.sync, mma.sp.sync and wmma.mma (PTX ISA 9.0, 9.7.15.4 to 9.7.15.6).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/instructions/matrix/matrix_fragment.hpp"

namespace convladder::simulated {

inline constexpr int kMostMatrixElements = 16 * 256;  ///< of any of the matrices

/// d = a b + c.
struct Product {
  std::string opcode;  ///< without .satfinite, rounding and ::ordered_metadata
  Fragment a;          ///< of a sparse product, of half the columns: those that are not zero
  Fragment b;
  Fragment c;
  Fragment d;
  int products = 1;            ///< whose matrices lie below each other
  bool exclusive_or = false;   ///< of b1: bits that differ are counted, not those that are set in both
  bool sparse = false;         ///< metadata say where the elements of a row of a are
  Handler in_lanes = nullptr;  ///< the quick way where sums are rounded after each product; see product_in_lanes.hpp
};

/// All of them, always in the same places.
const std::vector<Product>& matrix_products();

/// What an opcode asks for: a product, and whether sums beyond 32 bits are clamped.
struct AskedProduct {
  const Product* product;
  bool saturates;
};
std::optional<AskedProduct> product_asked_for(std::string_view opcode);

/// The row of b that belongs to each element of a sparse a, row by row. `metadata` and `selector` are the operands.
void sparse_positions(const WarpState& warp, const Product& product, Slot metadata, int selector, int* positions);

}  // namespace convladder::simulated
