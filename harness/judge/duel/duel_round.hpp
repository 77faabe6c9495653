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

/// The times of one round, "ABBA" or "BAAB": A is a slot of the base, in the order of time.
struct DuelRound {
  bool base_outside = true;    ///< true for ABBA
  std::array<double, 4> ns{};  ///< nanoseconds of a call in each slot, in the order of time

  std::optional<std::array<double, 4>> clock_mhz;  ///< the device's in each slot, where it tells

  std::array<double, 2> base_ns() const { return base_outside ? std::array{ns[0], ns[3]} : std::array{ns[1], ns[2]}; }
  std::array<double, 2> new_ns() const { return base_outside ? std::array{ns[1], ns[2]} : std::array{ns[0], ns[3]}; }

  /// (ln(B1 / A1) + ln(B2 / A2)) / 2: a drift that is linear in time affects both sides alike and cancels.
  double difference() const {
    const auto [a1, a2] = base_ns();
    const auto [b1, b2] = new_ns();
    return (std::log(b1 / a1) + std::log(b2 / a2)) / 2;
  }
};

inline std::vector<double> differences(const std::vector<DuelRound>& rounds) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const DuelRound& round : rounds) values.push_back(round.difference());
  return values;
}

/// The rounds' differences in cycles, which are times multiplied by clocks; empty if a round does not know its clock.
inline std::vector<double> cycle_differences(const std::vector<DuelRound>& rounds) {
  std::vector<double> values;
  for (DuelRound round : rounds) {
    if (!round.clock_mhz) return {};
    for (std::size_t i = 0; i < round.ns.size(); ++i) round.ns[i] *= (*round.clock_mhz)[i];
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
