// What one item's output must come to.
#pragma once

#include <vector>

namespace convladder {

/// One item's exact-enough output and the scale of its rounding errors, both as the output lies.
struct ReferenceOutput {
  std::vector<double> value;      ///< in float64
  std::vector<double> magnitude;  ///< what a tolerance is relative to: of a sum of products, the sum of |x * w|
};

}  // namespace convladder
