// How exact float32 arithmetic is held to be: one bound for every check.
#pragma once

namespace convladder {

/// The largest allowed |error| / sum(|x*w|) of float32 arithmetic, in any order of summation. A variant that asks for
/// more than this does not compute in float32. More products are granted more (`granted_tolerance`).
inline constexpr double kFloat32Tolerance = 1e-6;

/// The coarsest arithmetic that still passes for float32: whatever a variant says it needs, no more is allowed.
inline constexpr double kLargestTolerance = 1e-3;

}  // namespace convladder
