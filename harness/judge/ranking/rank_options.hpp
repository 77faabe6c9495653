// The settings of a ranking. All of them are in its record.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/measure/plan/options.hpp"
#include "simulator/gpus/gpu_facts.hpp"

namespace convladder {

struct RankOptions {
  RunOptions run;               ///< devices, sizes, seed, and how long is measured
  std::string submissions;      ///< the folder, absolute
  std::string against;          ///< a stage or library of the ladder; empty: the library, the best stage, or the first
  std::string gpu = kUsualGpu;  ///< for predictions, where there is no GPU
  double tau = 0.02;            ///< nobody counts as faster by no more than this
  double limit_seconds = 120;   ///< the most that a submission may take on a size
};

/// The level with which all of a submission's intervals hold at once.
inline constexpr double kRankLevel = 0.95;

/// The default numbers of rounds of a pair, at most and at least, whatever the budget is.
inline constexpr int kMostRounds = 30;
inline constexpr int kFewestRounds = 10;

nlohmann::ordered_json to_json(const RankOptions& options);

}  // namespace convladder
