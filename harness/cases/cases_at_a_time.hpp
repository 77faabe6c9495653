// How many cases are open at a time, each in a process of its own, so that the memory suffices.
#pragma once

#include <cstddef>
#include <string_view>

#include "variants/problem.hpp"

namespace convladder {

/// Of `left` cases of that size, each of which takes `processes` processes: at least one, as many as fit the host's
/// memory and that of the device, where each process takes some before it allocates any. One where the device takes one
/// process only; throws UserError if a case needs more than that.
std::size_t cases_at_a_time(std::string_view device, const ProblemSize& size, std::size_t left, int processes = 1);

}  // namespace convladder
