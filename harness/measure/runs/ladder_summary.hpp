// The summary of a ladder in one line: its baseline, how far stages 1 to 6 get, which stage is best, and how far that
// is from the library and from the floor.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/runs/ladder.hpp"

namespace convladder {

/// How stages are compared: by a time in nanoseconds, and how many times as fast `one` is as `other`.
struct Comparing {
  std::optional<double> (*time_of)(const RecordedCase& one);
  std::optional<Ratio> (*speedup)(const RecordedCase& other, const RecordedCase& one);
};
extern const Comparing kByLayerTimes;
extern const Comparing kByPredictions;  ///< for the usual GPU; the time is the middle of the range

/// A stage that is surely slower than the one it builds on.
struct StageThatLoses {
  std::string variant;
  std::string builds_on;
  Ratio x;                  ///< times as fast; all of its interval is below 1
  std::string no_headline;  ///< why nothing is made of it (why_no_headline); empty if it is
};

/// The summary of a ladder, from its measured layer times or its predicted times. Fields without a value are none.
struct LadderSummary {
  const RecordedCase* baseline = nullptr;         ///< the lowest rung, if it has a time
  const RecordedCase* sixth = nullptr;            ///< the last of stages 1 to 6, if it has a time
  const RecordedCase* best = nullptr;             ///< the fastest stage that is at least as accurate as the baseline
  const RecordedCase* library = nullptr;          ///< the fastest that is no less accurate than the best stage
  std::string best_by;                            ///< "measured" or "predicted"; empty without a best one
  std::string gpu;                                ///< the GPU for which the times are predicted; empty where they are
                                                  ///< measured
  std::vector<std::string> not_told_from_best;    ///< stages that may be as fast as the best one: the interval of their
                                                  ///< ratio holds 1
  std::vector<std::string> faster_less_accurate;  ///< stages that are faster than the best one, and less accurate
  std::optional<Ratio> sixth_x_baseline;
  std::optional<Ratio> best_x_baseline;
  std::optional<Ratio> best_x_sixth;
  std::optional<Ratio> best_percent_of_library;
  std::optional<Ratio> best_percent_of_floor;
  std::string no_headline;  ///< why none is made of the factors of measured times (why_no_headline); empty if one is
  std::vector<StageThatLoses> loses;
};

/// The summary of stages that were timed.
LadderSummary summary_of(const Ladder& ladder);

/// The stages of one layer and batch on a device that counts, in ladder order. The summary's times are predicted.
struct CountedLadder {
  std::vector<const RecordedCase*> cases;    ///< at least one, all of the same place
  std::vector<const RecordedCase*> failed;   ///< of the same place, without a figure
  std::map<std::string, std::string> below;  ///< by variant, the one it builds on
  LadderSummary summary;

  /// The variant on which the case's builds; empty for the first one.
  std::string builds_on(const RecordedCase& one) const {
    const auto found = below.find(one.variant);
    return found == below.end() ? std::string() : found->second;
  }
};

/// The counted ladders, from the cases and variants of a record. The cases must outlive the result.
std::vector<CountedLadder> counted_ladders_of(const std::vector<RecordedCase>& cases,
                                              const std::vector<RecordedVariant>& variants);

}  // namespace convladder
