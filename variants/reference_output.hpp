// The output that one item must have.
#pragma once

#include <string>
#include <vector>

namespace convladder {

/// One item's output, exact enough, and the scale of its rounding errors, both in the order of the output.
struct ReferenceOutput {
  std::vector<double> value;      ///< in float64
  std::vector<double> magnitude;  ///< tolerances are relative to it: for a sum of products, the sum of |x * w|
};

/// Empty if every element of one item's `output` is right: within tolerance * magnitude of its reference, or NaN where
/// the reference is. Otherwise how many elements are wrong, and which one is the first, in one line.
std::string output_mismatch(const ReferenceOutput& expected, const float* output, double tolerance);

}  // namespace convladder
