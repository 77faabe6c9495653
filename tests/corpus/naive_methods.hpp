// What other tools would say of two records: for reference only. Their p assumes samples that are independent of each
// other and of the hour, which those of two records are not.
#pragma once

#include <span>

namespace convladder {

/// Two-sided p of Welch's t test (Welch, The generalization of "Student's" problem, 1947). At least two samples each.
double welch_p(std::span<const double> a, std::span<const double> b);

/// Two-sided p of the rank sum test by its normal approximation, with ties (Mann and Whitney, 1947).
double mann_whitney_p(std::span<const double> a, std::span<const double> b);

/// ln(fastest sample of `now` / fastest of `base`).
double change_of_fastest(std::span<const double> base, std::span<const double> now);

/// mean of `now` / mean of `base` - 1.
double change_of_means(std::span<const double> base, std::span<const double> now);

/// The rule of nvbench's compare script: whether the means differ by more than the smaller relative standard deviation
/// of the two. There is no allowance for the number of samples. At least two samples each.
bool exceeds_smaller_noise(std::span<const double> base, std::span<const double> now);

}  // namespace convladder
