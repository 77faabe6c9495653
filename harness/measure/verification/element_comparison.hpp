// The loops that compare every element of every checked output with its reference.
#pragma once

#include <cstdint>

namespace convladder {

/// The expected values of some elements that lie one after the other.
struct ExpectedElements {
  const double* value = nullptr;
  const float* magnitude = nullptr;  ///< sum(|x * w|): the scale of the rounding errors
  double value_factor = 1;           ///< exact factors of `value` and `magnitude`: a power of two, and a sign for the
                                     ///< value
  double magnitude_factor = 1;
};

/// The largest |found - value| / magnitude of `count` elements: 0 where there is no error, infinite where there is one
/// and the magnitude is 0, NaN as soon as one of them is not a number. It may be off by `kScaledErrorAccuracy` of
/// itself.
double max_scaled_error(const float* found, const ExpectedElements& expected, std::int64_t count);

inline constexpr double kScaledErrorAccuracy = 1e-6;

/// |found - value| / magnitude of one element, in doubles.
double scaled_error(float found, const ExpectedElements& expected, std::int64_t at);

/// Adds to[i] += factor * from[i] for `count` elements.
void add_scaled(double* to, const float* from, double factor, std::int64_t count);
/// Adds to[i] += (factor * from[i])^2 for `count` elements.
void add_scaled_squares(double* to, const float* from, double factor, std::int64_t count);

}  // namespace convladder
