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

/// The numbers of rounds after which the confirmation is looked at: 13, 21 and 31 as far as they are below
/// `most_rounds`, and `most_rounds`. The looks share the error, so looking three times does not make an error three
/// times as likely.
std::vector<int> confirm_looks(int most_rounds);

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

/// The interval of the control, which should not move, both bounds together wrong with probability alpha: contaminated
/// if it excludes 0. None below kFewestRounds.
struct ControlOutcome {
  ChangeBounds bounds;
  bool contaminated = false;
};
std::optional<ControlOutcome> judge_control(std::span<const double> differences, double alpha);

}  // namespace convladder
