// How often the methods err over the corpus and what they find, as tables. Few digits and nothing that depends on the
// machine: the same corpus gives the same text wherever it is computed.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "corpus/traces.hpp"
#include "harness/measure/statistics/statistics.hpp"

namespace convladder {

/// Of the tables, in characters: as wide as the pages.
inline constexpr std::size_t kWidth = 120;

/// What is known of the pairs of a row, and thus what its bound is of.
enum class Truth {
  equal,    ///< every change that is called is wrong
  below,    ///< slower by at most tau: "regressed" is wrong
  between,  ///< slower by more than tau, less than Delta: both answers are right
  slower,   ///< by Delta or more: "regressed" is right
  unknown
};
/// `change` in percent.
inline Truth truth_of(std::optional<int> change) {
  if (!change) return Truth::unknown;
  if (*change == 0) return Truth::equal;
  if (*change <= 2) return Truth::below;
  return *change < 5 ? Truth::between : Truth::slower;
}

/// "wrong <= 1.0 %" or "found >= 95.1 %": exact, at 95 %, of pairs that are independent of each other.
inline std::string bound_text(Truth truth, int wrong, int found, int trials) {
  if (trials == 0 || truth == Truth::between || truth == Truth::unknown) return "";
  if (truth == Truth::slower) return fmt::format("found >= {:.1f} %", exact_proportion_bounds(found, trials).low * 100);
  return fmt::format("wrong <= {:.1f} %", exact_proportion_bounds(wrong, trials).high * 100);
}

/// Which traces there are.
std::string traces_text(const std::vector<TraceSession>& sessions);
std::string duel_rates(const std::vector<TraceSession>& sessions);

/// The runs of one machine under one load, in the order of time.
using RunsByLoad = std::map<std::pair<std::string, std::string>, std::vector<const RunTrace*>>;
RunsByLoad runs_by_load(const std::vector<TraceSession>& sessions);
std::string comparison_rates(const RunsByLoad& runs);
/// What other methods say of the pairs of comparison_rates.
std::string naive_rates(const RunsByLoad& runs);
std::string history_rates(const RunsByLoad& runs);

}  // namespace convladder
