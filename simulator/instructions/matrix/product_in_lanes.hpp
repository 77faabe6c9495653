// The fast way for products in single precision: sums and factors stay in the lanes that hold them, and no matrix is
// assembled. Each sum is rounded after each product, in ascending order of k, as in `multiply` of matrix.cpp.
#pragma once

#include "simulator/instructions/matrix/matrix_products.hpp"

namespace convladder::simulated {

/// The handler of such a product; nullptr if the product is of another kind.
Handler product_in_lanes(const Product& product);

}  // namespace convladder::simulated
