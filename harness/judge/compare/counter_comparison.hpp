// Counters of the simulated device compared: exactly, because a second run counts the same.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/compare/comparison.hpp"

namespace convladder {

/// Gives a case that was counted in both records its counters that moved and its verdict: pass if every sum is the
/// same, regressed if some are higher and none lower, improved by the mirror, inconclusive if both occur. Sums that
/// only one record has are named in the reason and decide nothing. What lies below the model of caches decides nothing
/// either.
void compare_counters(const RecordedCounters& base, const RecordedCounters& now, ComparedCase& compared);

/// Sets the cause of cases timed on a GPU, and of their twins on the simulated device: same variant, layer and batch.
/// Counters up and slower: explained. Slower alone: environment or layout. Counters up alone: latent, and the twin is
/// not a regression then, because the time is what matters.
void explain_by_counters(std::vector<ComparedCase>& cases);

/// "thread instructions +12.0%, global load sectors +50.0%", the three that moved most.
std::string moved_text(const std::vector<MovedCounter>& moved);

}  // namespace convladder
