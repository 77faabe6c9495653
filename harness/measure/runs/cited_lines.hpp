// The lines of source where two counted stages differ in what they need.
#pragma once

#include <span>
#include <string>

#include "harness/measure/cases/counters.hpp"

namespace convladder {

/// Cites the line with most of the change of the counters of these names between two cases: "line 88 of tile.cu:
/// passes through shared memory 1 -> 8 a request". Where that is no line of both, the line that holds most in each:
/// "passes through shared memory: naive.cu:31 (83%, 8 a request) -> tiles.cu:44 (97%, 4 a request)". `what` is what
/// people call the counters. Empty where a case was not counted by line, and where no line holds much.
std::string cited_lines(const std::string& what, std::span<const char* const> names, const CaseCounters& below,
                        const CaseCounters& above);

}  // namespace convladder
