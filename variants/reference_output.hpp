// What one item's output must come to.
#pragma once

#include <string>
#include <vector>

namespace convladder {

/// One item's exact-enough output and the scale of its rounding errors, both as the output lies.
struct ReferenceOutput {
  std::vector<double> value;      ///< in float64
  std::vector<double> magnitude;  ///< what a tolerance is relative to: of a sum of products, the sum of |x * w|
};

/// Empty if every element of one item's `output` is right: within tolerance * magnitude of its reference, or NaN where
/// the reference is. Otherwise how many are not and which is the first, in one line.
std::string output_mismatch(const ReferenceOutput& expected, const float* output, double tolerance);

}  // namespace convladder
