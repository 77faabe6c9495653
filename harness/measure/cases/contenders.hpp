// Cases of which only the fastest is of interest: the others stop after a few samples.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "harness/measure/cases/measurement.hpp"

namespace convladder {

/// Samples of a case before it can leave.
inline constexpr std::size_t kFirstLook = 3;

/// Why the case stops: it contends, and another that contends and is no less accurate is surely faster, by the samples
/// of both so far. Empty if it goes on. A case on which another that is still running builds goes on, as a step of the
/// ladder.
std::string why_beaten(const Measurement& one, const std::deque<Measurement>& all);

}  // namespace convladder
