// How often a duel errs on this machine, and which changes it finds: duels whose answer is known. See docs/use/duel.md.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/duel/duel.hpp"
#include "harness/measure/statistics/statistics.hpp"

namespace convladder {

/// The result of one duel of the one case.
struct SelftestRun {
  int extra_percent = 0;
  std::uint64_t seed = 0;
  bool contaminated = false;
  DuelCase duel;
};

/// All duels with the same amount of extra work.
struct SelftestLevel {
  int extra_percent = 0;
  int runs = 0;
  int regressed = 0;
  int improved = 0;
  int passed = 0;
  int inconclusive = 0;
  int contaminated = 0;                 ///< their control moved; they count in the verdicts as well
  ProportionInterval regressed_bounds;  ///< exact, each at 95 %
};

struct SelftestResult {
  std::vector<SelftestRun> runs;  ///< in the order in which they were made
  bool out_of_time = false;       ///< fewer runs were made than planned
  double seconds = 0;

  /// The runs by extra work, ascending; levels without a run are left out.
  std::vector<SelftestLevel> levels() const;
};

/// Whether the runs show a claim about the duel, speak against it, or do neither.
enum class Claim { shown, open, refuted };

/// The claim "Two equal sides are called a regression in at most `alpha` of duels": shown if the exact upper bound is
/// that low (0 of 299 at 1 %), refuted if the lower bound lies above.
Claim few_false_alarms(const SelftestLevel& equal_sides, double alpha);
/// The claim "Extra work of Delta or more is found in 95 % of duels": shown by at least 56 of 59, refuted if the exact
/// upper bound lies below 95 %.
Claim finds(const SelftestLevel& extra_work);

/// The extra work of each duel: for each level as many duels as wanted, in a random order that the seed decides, so
/// that disturbances of the machine affect all levels alike.
std::vector<int> selftest_order(const std::vector<std::pair<int, int>>& runs_of_percent, std::uint64_t seed);

/// Makes the plan of a duel of one pair with those settings, which outlive it.
using MakePlan = std::function<DuelPlan(const DuelSettings& settings)>;

/// Duels the plan's one pair, each time with a seed of its own, until all duels are made or the time is over. Throws
/// UserError if a case is wrong or cannot be run.
SelftestResult run_selftest(const MakePlan& plan, const DuelSettings& settings, const std::vector<int>& order,
                            std::optional<double> budget_seconds,
                            const std::function<void(const SelftestResult&)>& after_run);

}  // namespace convladder
