// The tolerances of our own operators, relative to the magnitudes of their problems' references.
#pragma once

namespace convladder::tolerance {

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

}  // namespace convladder::tolerance
