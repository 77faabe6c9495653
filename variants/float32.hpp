// The accuracy that is expected of float32 arithmetic: one bound for every check.
#pragma once

namespace convladder {

/// The largest allowed |error| / sum(|x*w|) of float32 arithmetic, in any order of summation. A variant that asks for
/// more than this does not compute in float32. Sums of more products are granted more (`granted_tolerance`).
inline constexpr double kFloat32Tolerance = 1e-6;

/// The largest tolerance that is granted, whatever a variant says it needs.
inline constexpr double kLargestTolerance = 1e-3;

}  // namespace convladder
