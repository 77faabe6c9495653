// The products of floats that are cut into bf16 parts: which of them are computed.
#pragma once

namespace convladder {

/// Which parts of weights and pixels are multiplied. The value is the number of products.
enum class PartProducts {
  three = 3,  ///< high x high, and high x middle both ways
  six = 6,    ///< also middle x middle, and high x low both ways
};

/// The number of parts of each float that these products need.
constexpr int part_count(PartProducts products) { return products == PartProducts::six ? 3 : 2; }

}  // namespace convladder
