// One round of a duel: four slots, two of each side, in an order that a recorded coin chose. See docs/use/duel.md.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/seeded_random.hpp"

namespace convladder {

/// One metric in one round, "ABBA" or "BAAB": A is a slot of the base, in the order of time.
struct DuelRound {
  bool base_outside = true;        ///< true for ABBA
  std::array<double, 4> values{};  ///< in each slot, in the order of time: a time in nanoseconds, or another metric

  std::optional<std::array<double, 4>> clock_mhz;  ///< the device's in each slot, where it tells

  std::array<double, 2> of_base() const { return base_outside ? outer() : inner(); }
  std::array<double, 2> of_new() const { return base_outside ? inner() : outer(); }

  /// (ln(B1 / A1) + ln(B2 / A2)) / 2: a drift that is linear in time affects both sides alike and cancels.
  double difference() const {
    const auto [a1, a2] = of_base();
    const auto [b1, b2] = of_new();
    return (std::log(b1 / a1) + std::log(b2 / a2)) / 2;
  }

 private:
  std::array<double, 2> outer() const { return {values[0], values[3]}; }
  std::array<double, 2> inner() const { return {values[1], values[2]}; }
};

/// The rounds' differences; with their signs changed where higher is better, so that what is worse is above 0.
inline std::vector<double> differences(const std::vector<DuelRound>& rounds, bool higher_is_better = false) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const DuelRound& round : rounds) values.push_back(higher_is_better ? -round.difference() : round.difference());
  return values;
}

/// The rounds' differences in cycles, which are times multiplied by clocks; empty if a round does not know its clock.
inline std::vector<double> cycle_differences(const std::vector<DuelRound>& rounds) {
  std::vector<double> values;
  for (DuelRound round : rounds) {
    if (!round.clock_mhz) return {};
    for (std::size_t i = 0; i < round.values.size(); ++i) round.values[i] *= (*round.clock_mhz)[i];
    values.push_back(round.difference());
  }
  return values;
}

/// Whether the base takes the outer slots of a round: by a fair coin, reproducible by the seed. `what` names the case
/// and the stage, so that every sequence of coins is its own.
inline bool duel_coin(std::uint64_t seed, const std::string& what, int round) {
  SeededRandom random(seed, text_hash(what) + static_cast<std::uint64_t>(round));
  return (random.next() >> 63) != 0;
}

}  // namespace convladder
