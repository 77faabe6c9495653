// Whether a change of a time is a regression: the rule that decides every comparison of this program.
#pragma once

#include <cmath>
#include <string_view>

namespace convladder {

/// The natural logarithm of new time over base time, with a lower and an upper bound.
struct ChangeBounds {
  double estimate = 0;
  double low = 0;   ///< the change is at least this, at the level asked for
  double high = 0;  ///< the change is at most this, at the level asked for
};

enum class Verdict { pass, regressed, improved, inconclusive };

/// "pass", "regressed", "improved", "inconclusive".
constexpr std::string_view verdict_name(Verdict verdict) {
  constexpr std::string_view names[] = {"pass", "regressed", "improved", "inconclusive"};
  return names[static_cast<int>(verdict)];
}

/// The limits of a change, as fractions of the base time, and the error allowed for each bound.
struct VerdictLimits {
  double tau = 0.02;    ///< a regression is proved to be above it
  double delta = 0.05;  ///< a pass is proved to be below it
  double alpha = 0.01;  ///< how often a bound may be on the wrong side
};

/// The verdict: regressed if the low bound lies above ln(1 + tau); improved by the mirrored rule; pass if the high
/// bound lies below ln(1 + delta); otherwise nothing is proved. A bound that is NaN proves nothing.
inline Verdict judge(const ChangeBounds& change, const VerdictLimits& limits) {
  if (change.low > std::log1p(limits.tau)) return Verdict::regressed;
  if (-change.high > std::log1p(limits.tau)) return Verdict::improved;
  if (change.high < std::log1p(limits.delta)) return Verdict::pass;
  return Verdict::inconclusive;
}

}  // namespace convladder
