// The quick way for products in single precision: sums and factors stay in the lanes that hold them, and no matrix is
// put together. Each sum is rounded after each product, in ascending order of k, as `multiply` in matrix.cpp does it.
#pragma once

#include "simulator/instructions/matrix/matrix_products.hpp"

namespace convladder::simulated {

/// The handler of such a product; nullptr if it is none.
Handler product_in_lanes(const Product& product);

}  // namespace convladder::simulated
