// The accuracy that is expected of a result: one bound for every check of float32 arithmetic, those of our own
// operators, and the comparison with a reference.
#pragma once

#include <string>
#include <vector>

namespace convladder {

/// The largest allowed |error| / sum(|x*w|) of float32 arithmetic, in any order of summation. A variant that asks for
/// more than this does not compute in float32. Sums of more products are granted more (`granted_tolerance`).
inline constexpr double kFloat32Tolerance = 1e-6;

/// The largest tolerance that is granted, whatever a variant says it needs.
inline constexpr double kLargestTolerance = 1e-3;

/// The tolerances of our own operators, relative to the magnitudes of their problems' references.
namespace tolerance {

/// The bias: one rounded addition, 2^-24 of the sum.
inline constexpr double bias = 1e-7;
/// tanh by `hyperbolic_tangent`: at most 4 units of 2^-23 of the value.
inline constexpr double tanh = 5e-7;
/// Softmax, relative to the outputs' sum, 1: an exponential has a relative error of at most 3e-7, and so have their sum
/// and the quotient.
inline constexpr double softmax = 1e-6;
/// The fully connected layer in float32, summed in chains of up to some 700 products: where no terms cancel, each sum
/// has a relative error of some 2^-25 * sqrt(700 / 3) = 4.6e-7, and more for the unluckiest output.
inline constexpr double fully_connected = 2e-6;

}  // namespace tolerance

/// The output that one item must have, exact enough, and the scale of its rounding errors, both in the order of the
/// output.
struct ReferenceOutput {
  std::vector<double> value;      ///< in float64
  std::vector<double> magnitude;  ///< tolerances are relative to it: for a sum of products, the sum of |x * w|
};

/// Empty if every element of one item's `output` is right: within tolerance * magnitude of its reference, or NaN where
/// the reference is. Otherwise how many elements are wrong, and which one is the first, in one line.
std::string output_mismatch(const ReferenceOutput& expected, const float* output, double tolerance);

}  // namespace convladder
