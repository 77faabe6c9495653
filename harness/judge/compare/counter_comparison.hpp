// Compares counters of the simulated device: exactly, because a second run counts the same.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/compare/comparison.hpp"

namespace convladder {

/// Fills in the counters that moved and the verdict of a case that was counted in both records: pass if every sum is
/// the same, regressed if some are higher and none lower, improved for the opposite, inconclusive if both occur. Sums
/// that only one record has are named in the reason and decide nothing. Counters from the model of caches decide
/// nothing either.
void compare_counters(const CaseCounters& base, const CaseCounters& now, ComparedCase& compared);

/// Sets the cause of cases timed on a GPU, and of their twins on the simulated device: same variant, layer and batch.
/// Counters up and slower: explained. Only slower: environment or layout. Only counters up: latent, and the twin is not
/// a regression then, because the time is what matters.
void explain_by_counters(std::vector<ComparedCase>& cases);

/// The three counters that moved most: "thread instructions +12.0%, global load sectors +50.0%".
std::string moved_text(const std::vector<MovedCounter>& moved);

}  // namespace convladder
