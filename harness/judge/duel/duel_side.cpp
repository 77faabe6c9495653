#include "harness/judge/duel/duel_side.hpp"

#include <fmt/format.h>

#include <array>

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
  std::array<double, 4> clocks{};
  bool clocks_known = true;
  DuelSide* const order[] = {&outer, &inner, &inner, &outer};
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    const SlotValues slot = order[i]->slot();
    rounds.resize(slot.values.size(), {.base_outside = base_outside, .values = {}, .clock_mhz = {}});
    for (std::size_t metric = 0; metric < rounds.size(); ++metric) rounds[metric].values[i] = slot.values[metric];
    clocks[i] = slot.clock_mhz.value_or(0);
    clocks_known = clocks_known && clocks[i] > 0;
  }
  for (DuelRound& round : rounds) {
    if (clocks_known) round.clock_mhz = clocks;
  }
  return rounds;
}

}  // namespace convladder
