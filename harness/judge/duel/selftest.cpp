#include "harness/judge/duel/selftest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "support/errors.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

using Clock = std::chrono::steady_clock;

namespace {

constexpr double kWantedPower = 0.95;
constexpr double kFoundShare = 56.0 / 59;  // a share that 95 % may well give in 59 trials

SelftestRun one_run(const MakePlan& plan, const DuelSettings& settings) {
  const DuelResult result =
      run_duel(plan(settings), settings, {.phase = [](const char*, const std::string&, double) {}});
  for (const DuelCase& one : result.cases) {
    if (one.screened && one.verdict != CaseVerdict::failed) {
      return {settings.extra_percent, settings.seed, result.contaminated(), one};
    }
    if (!one.reason.empty()) throw UserError(fmt::format("{}: {}", one.id, one.reason));
  }
  throw UserError("no case could be measured");
}

}  // namespace

std::vector<SelftestLevel> SelftestResult::levels() const {
  std::map<int, SelftestLevel> by_percent;
  for (const SelftestRun& run : runs) {
    SelftestLevel& level = by_percent[run.extra_percent];
    level.extra_percent = run.extra_percent;
    ++level.runs;
    level.regressed += run.duel.verdict == CaseVerdict::regressed ? 1 : 0;
    level.improved += run.duel.verdict == CaseVerdict::improved ? 1 : 0;
    level.passed += run.duel.verdict == CaseVerdict::pass ? 1 : 0;
    level.inconclusive += run.duel.verdict == CaseVerdict::inconclusive ? 1 : 0;
    level.contaminated += run.contaminated ? 1 : 0;
  }
  std::vector<SelftestLevel> levels;
  for (auto& [percent, level] : by_percent) {
    level.regressed_bounds = exact_proportion_bounds(level.regressed, level.runs);
    levels.push_back(level);
  }
  return levels;
}

Claim few_false_alarms(const SelftestLevel& equal_sides, double alpha) {
  if (equal_sides.regressed_bounds.high <= alpha) return Claim::shown;
  return equal_sides.regressed_bounds.low > alpha ? Claim::refuted : Claim::open;
}

Claim finds(const SelftestLevel& extra_work) {
  constexpr int enough = 59;
  const double share = static_cast<double>(extra_work.regressed) / extra_work.runs;
  if (extra_work.runs >= enough && share >= kFoundShare) return Claim::shown;
  return extra_work.regressed_bounds.high < kWantedPower ? Claim::refuted : Claim::open;
}

std::vector<int> selftest_order(const std::vector<std::pair<int, int>>& runs_of_percent, std::uint64_t seed) {
  std::vector<int> order;
  for (const auto& [percent, runs] : runs_of_percent)
    order.insert(order.end(), static_cast<std::size_t>(runs), percent);
  SeededRandom random(seed, 0);
  shuffle(order, random);
  return order;
}

SelftestResult run_selftest(const MakePlan& plan, const DuelSettings& settings, const std::vector<int>& order,
                            std::optional<double> budget_seconds,
                            const std::function<void(const SelftestResult&)>& after_run) {
  SelftestResult result;
  const auto start = Clock::now();
  for (const int percent : order) {
    DuelSettings own = settings;
    own.extra_percent = percent;
    own.seed = settings.seed + result.runs.size();
    result.runs.push_back(one_run(plan, own));
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    after_run(result);
    if (budget_seconds && result.seconds >= *budget_seconds && result.runs.size() < order.size()) {
      result.out_of_time = true;
      break;
    }
  }
  return result;
}

}  // namespace convladder
