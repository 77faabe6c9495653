// The methods, asked again what they say of recorded traces: through the same functions that the commands call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corpus/traces.hpp"
#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/history/history.hpp"
#include "harness/measure/statistics/change_verdict.hpp"

namespace convladder {

struct ReplayedDuel {
  Verdict verdict = Verdict::inconclusive;
  bool contaminated = false;
  int rounds = 0;  ///< of screen and confirmation: as many as it would have measured
};

/// With the usual limits, as `convladder duel` of this one case.
ReplayedDuel replay_duel(const DuelTrace& trace);

/// Two runs of the same cases, and what is known of them.
struct RunPair {
  const RunTrace* base;
  const RunTrace* now;
};

/// "In the new run, case `variant` did what `taken_from` did": a change whose size is known.
struct Planted {
  std::string variant;
  std::string taken_from;
};

/// As `convladder compare`, with `controls` for --control. Of known-work only the cases that do the same work are in
/// the records. Throws UserError if the runs cannot be compared: their sessions need different names for their
/// machines.
std::vector<ComparedCase> replay_comparison(const RunPair& pair, const std::vector<std::string>& controls,
                                            const std::optional<Planted>& planted);

/// As `convladder history`. The change is planted from run number `from` on.
History replay_history(const std::vector<const RunTrace*>& runs, const std::optional<Planted>& planted,
                       std::size_t from);

/// The samples of a case; at least one such case.
const std::vector<double>& samples_of(const RunTrace& run, const std::string& variant);

/// Whether a case is in the records that are compared: those with more work only stand in for others.
bool stays(const std::string& variant);

}  // namespace convladder
