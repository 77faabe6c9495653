// Floats cut into bf16 parts: which of their products are made.
#pragma once

namespace convladder {

/// Which parts of weights and pixels are multiplied. The value is the number of products.
enum class PartProducts {
  three = 3,  ///< high x high, and high x middle both ways
  six = 6,    ///< and middle x middle, and high x low both ways
};

/// Parts of each number that are needed.
constexpr int part_count(PartProducts products) { return products == PartProducts::six ? 3 : 2; }

}  // namespace convladder
