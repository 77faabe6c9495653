#include "harness/judge/ranking/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "harness/measure/statistics/ratio.hpp"

namespace convladder {
namespace {

/// The order of classes: contenders with a figure for every size, those that lack one, those that failed.
int class_of(const Contender& one, const RankedContender& placed) {
  if (one.has_failed) return 2;
  return placed.sizes == one.sizes.size() && placed.sizes > 0 ? 0 : 1;
}

RankedContender unranked(const Contender& one, std::size_t number) {
  RankedContender placed{.contender = number, .rank = {}, .shares_rank = false, .speed = {}, .sizes = 0};
  std::vector<LogSpeed> known;
  for (const std::optional<LogSpeed>& size : one.sizes) {
    if (size) known.push_back(*size);
  }
  placed.sizes = known.size();
  if (!one.has_failed && !known.empty()) placed.speed = mean_of(known);
  return placed;
}

}  // namespace

double level_of_each(double level, std::size_t sizes) {
  return 1 - (1 - level) / static_cast<double>(std::max<std::size_t>(sizes, 1));
}

LogSpeed modelled_speed(const FigureRange& baseline, const FigureRange& contender) {
  const Ratio speed = ratio_by_ranges(baseline.low, baseline.high, contender.low, contender.high);
  return {std::log(speed.value), std::log(*speed.low), std::log(*speed.high)};
}

LogSpeed mean_of(std::span<const LogSpeed> sizes) {
  LogSpeed sum;
  for (const LogSpeed& one : sizes) {
    sum.estimate += one.estimate;
    sum.low += one.low;
    sum.high += one.high;
  }
  const auto count = static_cast<double>(sizes.size());
  return {sum.estimate / count, sum.low / count, sum.high / count};
}

bool surely_faster(const LogSpeed& one, const LogSpeed& other, double tau) {
  return one.low - other.high > std::log1p(tau);
}

std::vector<RankedContender> ranked(const std::vector<Contender>& contenders, double tau) {
  std::vector<RankedContender> all;
  for (std::size_t i = 0; i < contenders.size(); ++i) all.push_back(unranked(contenders[i], i));
  const auto order = [&](const RankedContender& one) {
    const Contender& contender = contenders[one.contender];
    return std::tuple(class_of(contender, one), one.speed ? -one.speed->estimate : 0.0, contender.name);
  };
  std::ranges::stable_sort(all, {}, order);

  std::size_t first = 0;  // the first one with the rank that is being given
  for (std::size_t i = 0; i < all.size() && class_of(contenders[all[i].contender], all[i]) == 0; ++i) {
    for (std::size_t above = first; above < i; ++above) {
      if (surely_faster(*all[above].speed, *all[i].speed, tau)) {
        first = i;
        break;
      }
    }
    all[i].rank = static_cast<int>(first) + 1;
    if (first < i) all[first].shares_rank = all[i].shares_rank = true;
  }
  return all;
}

std::optional<std::size_t> best_of(const std::vector<std::vector<std::optional<double>>>& figures) {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    double sum = 0;
    const bool complete = std::ranges::all_of(figures[i], [&](const std::optional<double>& one) {
      sum += one ? std::log(*one) : 0;
      return one.has_value();
    });
    if (!complete || figures[i].empty() || (best && sum >= least)) continue;
    best = i;
    least = sum;
  }
  return best;
}

}  // namespace convladder
