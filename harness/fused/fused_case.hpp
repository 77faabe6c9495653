// One case of `convladder fused` from the outside: verified, then measured in rounds, or counted.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/cases/case_client.hpp"
#include "harness/fused/fused_plan.hpp"

namespace convladder {

struct FusedOutcome {
  Status status = Status::ok;
  std::string reason;
  nlohmann::ordered_json verification;           ///< "integers", "separate", "fused", and both "… after timing" or
                                                 ///< counting; null if it was never run
  std::string choice;                            ///< what the fused variant chose
  std::vector<std::vector<double>> separate;     ///< [step][round], nanoseconds a call; empty unless measured
  std::vector<double> fused;                     ///< [round]
  std::vector<nlohmann::ordered_json> counters;  ///< of each step; empty unless counted
  nlohmann::ordered_json fused_counters;         ///< null unless counted
  std::string stopped_because;

  /// Of each round: the sum of the separate operators.
  std::vector<double> sums() const;
  /// Of each round: that sum over the fused time. Both sides of a round are taken right after each other.
  std::vector<double> ratios() const;
};

/// Runs the case to its end. What is not verified has no time.
FusedOutcome run_fused_case(const FusedCase& planned, const FusedOptions& options, const Workload& workload,
                            const OpenCase& open);

}  // namespace convladder
