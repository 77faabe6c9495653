// Cases of which only the fastest is of interest: the others leave after a first look.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "harness/measure/cases/measurement.hpp"

namespace convladder {

/// Samples of a case before it can leave.
inline constexpr std::size_t kFirstLook = 3;

/// Why the case leaves: it contends, and one that contends and is no less accurate is surely faster, by what both have
/// shown so far. Empty if it stays; what another that is still there builds on stays, as a step of the ladder.
std::string why_beaten(const Measurement& one, const std::deque<Measurement>& all);

}  // namespace convladder
