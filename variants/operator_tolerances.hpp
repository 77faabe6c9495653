// The tolerances of our own operators, relative to the magnitudes of `reference_operator`.
#pragma once

namespace convladder::tolerance {

/// One addition, rounded: 2^-24 of the sum.
inline constexpr double bias = 1e-7;
/// `hyperbolic_tangent`: at most 4 units of 2^-23 of the value.
inline constexpr double tanh = 5e-7;
/// Of the outputs' sum, 1: an exponential is off by at most 3e-7 of itself, and so are their sum and the quotient.
inline constexpr double softmax = 1e-6;
/// float32, summed in chains of up to some 700 products: where no terms cancel, each is off by some
/// 2^-25 * sqrt(700 / 3) = 4.6e-7 of itself, more for the unluckiest output.
inline constexpr double fully_connected = 2e-6;

}  // namespace convladder::tolerance
