// Compares the hyperbolic tangent with float64, many elements at a time: with the library's tangent, it would take most
// of the time of verifying a network.
#pragma once

#include <cstdint>

namespace convladder {

/// The largest |found - tanh(x)| / |tanh(x)| of `count` elements: 0 where there is no error, infinite where there is
/// one and tanh(x) is 0, NaN as soon as one is not a number. The tangent itself is off by less than 1e-11 of itself.
double max_tanh_error(const float* x, const float* found, std::int64_t count);

}  // namespace convladder
