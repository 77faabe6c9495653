// The change of a time between two records that were made at different times.
//
// Such samples are not exchangeable: machines drift, so a two-sample test of them controls no error. The method here
// makes fewer assumptions and draws weaker conclusions; docs/use/compare.md explains it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/measure/statistics/change_verdict.hpp"

namespace convladder {

/// The fewest samples whose range covers their median with probability 1 - alpha: 8 at 1%.
int fewest_samples(double alpha);

/// ln(median of `now` / median of `base`), and bounds from the intervals of both medians between order statistics:
/// ln(low of now / high of base) and ln(high of now / low of base), each interval at level 1 - alpha. Whatever the two
/// distributions are, each bound errs with probability alpha at most, as long as a record's samples are independent of
/// each other. None with fewer than fewest_samples(alpha) on either side. Samples are positive.
std::optional<ChangeBounds> recorded_change(std::span<const double> base, std::span<const double> now, double alpha);

/// The samples of a case and of its witness, round by round: the two took their samples in turns, so whatever slows a
/// round slows both.
struct SampleRounds {
  std::span<const double> samples;
  std::span<const double> witness;
};

/// ln(sample / witness's sample) of each round that both have.
std::vector<double> logarithms_of_ratios(const SampleRounds& rounds);

/// The change of a case's ratio to its witness, with bounds like those of `recorded_change`: it is that of the median
/// over the rounds of ln(sample / witness's sample). Rounds that only one of them has are left out.
std::optional<ChangeBounds> change_beside_witness(const SampleRounds& base, const SampleRounds& now, double alpha);

}  // namespace convladder
