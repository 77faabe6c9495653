// The decisions that follow from the rounds of a duel: screen, looks of the confirmation, Holm, control. There is no
// clock and no process in here, so that recorded rounds lead to the same verdicts. See docs/use/duel.md.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/measure/statistics/change_verdict.hpp"

namespace convladder {

struct DuelLimits {
  VerdictLimits verdict;       ///< tau, Delta, and alpha for the final verdicts
  double screen_alpha = 0.05;  ///< level at which the screen flags a case
  int screen_rounds = 9;
  int most_rounds = 31;  ///< in the confirmation
};

/// The most rounds of a confirmation: if that is not enough, use another machine instead.
inline constexpr int kMostDuelRounds = 1000;
/// The rounds of its first look.
inline constexpr int kFewestConfirmRounds = 13;

/// The numbers of rounds after which the confirmation is looked at: 13, 21 and 31 as far as they are below
/// `most_rounds`, then each time 2.5 times as many, and `most_rounds`. The looks share the error, so looking three
/// times does not make an error three times as likely.
std::vector<int> confirm_looks(int most_rounds);

/// An outlook on a confirmation, judging by rounds of the base against itself.
struct Foresight {
  double scatter = 0;        ///< standard deviation of the rounds' differences
  double finds = 0;          ///< the smallest change, as a fraction, that is found in 9 of 10 duels in the most rounds
  int rounds_for_delta = 0;  ///< that find a change of Delta in 9 of 10 duels
  bool delta_is_promised = false;  ///< whether these are no more than the most rounds
};

/// Predicts by the signed-rank test's asymptotic efficiency for normal differences, 3 / pi (Hodges and Lehmann, The
/// efficiency of some nonparametric competitors of the t-test, 1956), with the upper 80 % confidence limit of the
/// scatter, since few rounds tell little of it. `cases`: how many are judged together. At least two differences.
Foresight foresee(std::span<const double> differences, const DuelLimits& limits, std::size_t cases);

/// The result of a case's first rounds.
struct Screened {
  ChangeBounds bounds;   ///< at screen_alpha
  bool flagged = false;  ///< to be measured again; otherwise it passes
};

/// Judges a case by its first rounds: it passes at once if nothing is suspected at screen_alpha (L <= ln(1 + tau), and
/// the mirrored rule) and U < ln(1 + Delta) even at alpha / 2. Every other case is flagged. Needs at least
/// kFewestRounds differences.
Screened screen(std::span<const double> differences, const DuelLimits& limits);

/// The confirmation of the flagged cases, measured with fresh processes in every round, from look to look.
class Confirmation {
 public:
  struct Case {
    std::vector<double> differences;
    Verdict verdict = Verdict::inconclusive;
    bool decided = false;
    std::optional<ChangeBounds> bounds;  ///< low at alpha / looks, high at alpha / 2 / looks: see docs/use/duel.md
    double p_slower = 1;  ///< for "not more than tau slower", times the number of looks, before Holm's correction
    double p_faster = 1;
  };

  Confirmation(const DuelLimits& limits, std::size_t cases);

  const std::vector<int>& looks() const { return looks_; }
  const std::vector<Case>& cases() const { return cases_; }
  void add(std::size_t one, double difference) { cases_[one].differences.push_back(difference); }
  /// Gives up a case that could not be measured to its end: it gets no verdict, and Holm still counts it.
  void withdraw(std::size_t one) { cases_[one].decided = true; }
  /// Decides the cases that can be decided, after every undecided case has got the rounds of the next look.
  void look();
  /// Whether nothing is left to measure.
  bool over() const;

 private:
  void holm(double Case::*p, Verdict verdict);

  DuelLimits limits_;
  std::vector<int> looks_;
  std::vector<Case> cases_;
};

/// Whether the time changed but the cycles did not: then the clock changed, not the code. `cycles` are the bounds of
/// the differences in cycles at the level of the verdict. Only for regressed and improved.
bool only_the_clock(Verdict verdict, const ChangeBounds& cycles, double tau);

/// The number of further rounds that would lead to a verdict at the same spread: the bounds close in with the square
/// root of the number of rounds. At least 1. None where nothing is known of the spread.
std::optional<int> rounds_wanting(const ChangeBounds& bounds, int rounds, const VerdictLimits& limits);

/// Values that fall into two groups rather than scatter around one place: what more rounds do not mend.
struct TwoGroups {
  double lower = 0;  ///< the groups' medians
  double upper = 0;
};
/// None where the values do not: the widest gap between their logarithms has to leave a fifth of them on either side,
/// and to be wider than each group is between its lower and upper quartile, and than 3 %.
std::optional<TwoGroups> two_groups(std::vector<double> values);

/// The interval of the control, which should not move, both bounds together wrong with probability alpha: contaminated
/// if it excludes 0. None below kFewestRounds.
struct ControlOutcome {
  ChangeBounds bounds;
  bool contaminated = false;
};
std::optional<ControlOutcome> judge_control(std::span<const double> differences, double alpha);

}  // namespace convladder
