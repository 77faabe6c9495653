#include "harness/judge/duel/duel_decision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "harness/measure/statistics/signed_rank.hpp"
#include "harness/measure/statistics/statistics.hpp"

namespace convladder {
namespace {

constexpr int kLooks[] = {kFewestConfirmRounds, 21, 31};
constexpr double kLookGrowth = 2.5;
constexpr double kForeseenPower = 0.9;
constexpr double kScatterLevel = 0.8;
constexpr double kLeastGap = 0.03;

/// The quantile of the standard normal distribution, by bisection of its distribution function.
double normal_quantile(double probability) {
  double low = -10;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::numbers::sqrt2) / 2 < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// The quantile of the chi-squared distribution (Wilson and Hilferty, The distribution of chi-square, 1931).
double chi_squared_quantile(double probability, double freedom) {
  const double part = 2 / (9 * freedom);
  return freedom * std::pow(1 - part + normal_quantile(probability) * std::sqrt(part), 3);
}

/// Bounds of the change at that level; infinite where no Walsh average is a bound at it.
ChangeBounds bounds_or_none(std::span<const double> differences, double alpha) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (const auto bounds = signed_rank_bounds(differences, alpha)) return *bounds;
  return {median(walsh_averages(differences)), -infinity, infinity};
}

std::vector<double> mirrored(std::span<const double> differences) {
  std::vector<double> negated;
  for (const double d : differences) negated.push_back(-d);
  return negated;
}

}  // namespace

std::vector<int> confirm_looks(int most_rounds) {
  std::vector<int> looks;
  for (const int look : kLooks) {
    if (look < most_rounds) looks.push_back(look);
  }
  double look = kLooks[2] * kLookGrowth;
  while (look < most_rounds) {
    looks.push_back(static_cast<int>(look));
    look *= kLookGrowth;
  }
  looks.push_back(most_rounds);
  return looks;
}

Foresight foresee(std::span<const double> differences, const DuelLimits& limits, std::size_t cases) {
  const auto count = static_cast<double>(differences.size());
  double mean = 0;
  for (const double d : differences) mean += d / count;
  double squares = 0;
  for (const double d : differences) squares += (d - mean) * (d - mean);
  const double freedom = count - 1;
  const double highest = std::sqrt(squares / chi_squared_quantile(1 - kScatterLevel, freedom));
  const double level = limits.verdict.alpha /
                       static_cast<double>(confirm_looks(limits.most_rounds).size() * std::max<std::size_t>(cases, 1));
  const double width =
      (normal_quantile(1 - level) + normal_quantile(kForeseenPower)) * highest * std::sqrt(std::numbers::pi / 3);
  const double tau = std::log1p(limits.verdict.tau);
  const double room = std::log1p(limits.verdict.delta) - tau;
  Foresight foresight{.scatter = std::sqrt(squares / freedom),
                      .finds = std::expm1(tau + width / std::sqrt(limits.most_rounds)),
                      .rounds_for_delta = kMostDuelRounds + 1};
  if (width < room * std::sqrt(kMostDuelRounds)) {
    foresight.rounds_for_delta = std::max(kLooks[0], static_cast<int>(std::ceil(width * width / (room * room))));
  }
  foresight.delta_is_promised = foresight.rounds_for_delta <= limits.most_rounds;
  return foresight;
}

Screened screen(std::span<const double> differences, const DuelLimits& limits) {
  const double tau = std::log1p(limits.verdict.tau);
  const ChangeBounds suspicion = bounds_or_none(differences, limits.screen_alpha);
  const ChangeBounds proof = bounds_or_none(differences, limits.verdict.alpha / 2);
  // Written so that a NaN bound flags the case.
  const bool passes = suspicion.low <= tau && -suspicion.high <= tau && proof.high < std::log1p(limits.verdict.delta);
  return {suspicion, !passes};
}

Confirmation::Confirmation(const DuelLimits& limits, std::size_t cases)
    : limits_(limits), looks_(confirm_looks(limits.most_rounds)), cases_(cases) {}

void Confirmation::look() {
  const auto looks = static_cast<double>(looks_.size());
  const double alpha = limits_.verdict.alpha / looks;
  const double tau = std::log1p(limits_.verdict.tau);
  for (Case& one : cases_) {
    if (one.decided) continue;
    const ChangeBounds low = bounds_or_none(one.differences, alpha);
    const ChangeBounds high = bounds_or_none(one.differences, alpha / 2);
    one.bounds = ChangeBounds{low.estimate, low.low, high.high};
    one.p_slower = std::min(one.p_slower, looks * signed_rank_p_above(one.differences, tau));
    one.p_faster = std::min(one.p_faster, looks * signed_rank_p_above(mirrored(one.differences), tau));
  }
  holm(&Case::p_slower, Verdict::regressed);
  holm(&Case::p_faster, Verdict::improved);
  for (Case& one : cases_) {
    if (one.decided || !(one.bounds->high < std::log1p(limits_.verdict.delta))) continue;
    one.decided = true;
    one.verdict = Verdict::pass;
  }
}

/// Holm, A simple sequentially rejective multiple test procedure, 1979: the smallest p has to be below alpha / m, the
/// next one below alpha / (m - 1), and so on, until one is not. A p only falls from look to look, so a hypothesis that
/// was rejected once stays rejected, and at the end it is one Holm test of p times the number of looks (Bonferroni over
/// the looks).
void Confirmation::holm(double Case::*p, Verdict verdict) {
  std::vector<Case*> order;
  for (Case& one : cases_) order.push_back(&one);
  std::ranges::sort(order, [p](const Case* a, const Case* b) { return a->*p < b->*p; });
  std::size_t left = order.size();
  for (Case* const one : order) {
    if (!(one->*p <= limits_.verdict.alpha / static_cast<double>(left))) return;
    --left;
    // A case that passed at an earlier look may prove to be a small regression after all: that takes precedence.
    if (one->decided && one->verdict != Verdict::pass) continue;
    one->decided = true;
    one->verdict = verdict;
  }
}

bool Confirmation::over() const { return std::ranges::all_of(cases_, &Case::decided); }

bool only_the_clock(Verdict verdict, const ChangeBounds& cycles, double tau) {
  if (verdict == Verdict::regressed) return !(cycles.low > std::log1p(tau));
  return verdict == Verdict::improved && !(-cycles.high > std::log1p(tau));
}

std::optional<int> rounds_wanting(const ChangeBounds& bounds, int rounds, const VerdictLimits& limits) {
  if (!std::isfinite(bounds.low) || !std::isfinite(bounds.high)) return std::nullopt;
  const double tau = std::log1p(limits.tau);
  const double delta = std::log1p(limits.delta);
  const auto factor = [](double width, double room) {
    return room > 0 ? width / room : std::numeric_limits<double>::infinity();
  };
  const double below = bounds.estimate - bounds.low;
  const double above = bounds.high - bounds.estimate;
  // The smallest factor that leads to a pass, a regression or an improvement.
  const double closer = std::min({factor(above, delta - bounds.estimate), factor(below, bounds.estimate - tau),
                                  factor(above, -tau - bounds.estimate)});
  const double wanted = std::ceil(rounds * closer * closer);
  if (!(wanted < 1e6)) return std::nullopt;
  return std::max(1, static_cast<int>(wanted) - rounds);
}

std::optional<TwoGroups> two_groups(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t fewest = values.size() / 5 + 1;
  const double least_gap = std::log1p(kLeastGap);
  std::size_t at = 0;
  double widest = least_gap;
  for (std::size_t i = fewest; i + fewest <= values.size(); ++i) {
    const double gap = std::log(values[i] / values[i - 1]);
    if (!(gap > widest)) continue;
    widest = gap;
    at = i;
  }
  if (at == 0) return std::nullopt;
  const auto spread = [](std::span<const double> group) {
    return std::log(group[group.size() * 3 / 4] / group[group.size() / 4]);
  };
  const std::span<const double> lower(values.data(), at);
  const std::span<const double> upper(values.data() + at, values.size() - at);
  if (!(widest > std::max(spread(lower), spread(upper)))) return std::nullopt;
  return TwoGroups{median(lower), median(upper)};
}

std::optional<ControlOutcome> judge_control(std::span<const double> differences, double alpha) {
  const auto bounds = signed_rank_bounds(differences, alpha / 2);
  if (!bounds) return std::nullopt;
  return ControlOutcome{*bounds, !(bounds->low <= 0 && bounds->high >= 0)};
}

}  // namespace convladder
