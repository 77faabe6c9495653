#include "harness/judge/duel/duel_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "support/units.hpp"

namespace convladder {

std::string metric_text(const DuelMetric& metric, double value) {
  if (metric.is_time()) return time_text(value);
  return fmt::format("{:.4g}{}{}", value, metric.unit.empty() ? "" : " ", metric.unit);
}

std::vector<DuelRound> measure_round(DuelSide& base, DuelSide& now, bool base_outside) {
  DuelSide& outer = base_outside ? base : now;
  DuelSide& inner = base_outside ? now : base;
  std::vector<DuelRound> rounds;
  std::vector<std::array<double, 4>> clocks;
  DuelSide* const order[] = {&outer, &inner, &inner, &outer};
  for (std::size_t i = 0; i < std::size(order); ++i) {
    const SlotValues slot = order[i]->slot();
    rounds.resize(slot.values.size(), {.base_outside = base_outside, .values = {}, .clock_mhz = {}});
    clocks.resize(rounds.size());
    for (std::size_t metric = 0; metric < rounds.size(); ++metric) {
      rounds[metric].values[i] = slot.values[metric];
      clocks[metric][i] = slot.clock_mhz.empty() ? 0 : slot.clock_mhz[metric];
    }
  }
  for (std::size_t metric = 0; metric < rounds.size(); ++metric) {
    const bool is_known = std::ranges::all_of(clocks[metric], [](double mhz) { return mhz > 0; });
    if (is_known) rounds[metric].clock_mhz = clocks[metric];
  }
  return rounds;
}

}  // namespace convladder
