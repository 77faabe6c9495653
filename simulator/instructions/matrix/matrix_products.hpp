// The existing products of matrices: mma.sync, mma.sp.sync and wmma.mma (PTX ISA 9.0, 9.7.15.4 to 9.7.15.6).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/instructions/matrix/matrix_fragment.hpp"

namespace convladder::simulated {

inline constexpr int kMostMatrixElements = 16 * 256;  ///< of any of the matrices

/// A product d = a b + c.
struct Product {
  std::string opcode;  ///< without .satfinite, rounding and ::ordered_metadata
  Fragment a;          ///< in a sparse product it has half the columns: the nonzero elements
  Fragment b;
  Fragment c;
  Fragment d;
  int products = 1;            ///< the number of products whose matrices are stacked
  bool exclusive_or = false;   ///< for b1: counts bits that differ, instead of bits that are set in both
  bool sparse = false;         ///< metadata give the positions of the elements in a row of a
  Handler in_lanes = nullptr;  ///< the fast way where sums are rounded after each product; see product_in_lanes.hpp
};

/// All products, always in the same order.
const std::vector<Product>& matrix_products();

/// The request of an opcode: a product, and whether sums beyond 32 bits are clamped.
struct AskedProduct {
  const Product* product;
  bool saturates;
};
std::optional<AskedProduct> product_asked_for(std::string_view opcode);

/// The row of b for each element of a sparse a, row by row. `metadata` and `selector` are the instruction's operands.
void sparse_positions(const WarpState& warp, const Product& product, Slot metadata, int selector, int* positions);

}  // namespace convladder::simulated
