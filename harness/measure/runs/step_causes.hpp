// Why a stage is faster or slower, by its counters, and what binds it now: one sentence each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/records/recorded_case.hpp"

namespace convladder {

/// A stage as counted, with its prediction for one GPU where there is one.
struct CountedStage {
  const CaseCounters* counters = nullptr;
  const PredictedFigure* prediction = nullptr;  ///< null, or the prediction for `gpu`
  const GpuFacts* gpu = nullptr;
  double minimum_bytes = 0;  ///< bytes that the problem has to move
  double blocks = 0;         ///< of the largest launch

  bool predicted() const { return prediction != nullptr && prediction->runs(); }
};

/// The resource that the stage uses less of than the one below, and what it pays for that. `factor` is times faster,
/// none if it is not known; `is_predicted` where it follows from the counters itself.
struct CountedRelief {
  std::string sentence;
  std::vector<std::string> lines;  ///< of source, where what it says has changed (cited_lines.hpp)
};
CountedRelief counted_relief(const CountedStage& stage, const CountedStage& below, std::optional<double> factor,
                             bool is_predicted);

/// "Predicted for an H100: bound by L2 bandwidth (writes)." Empty without a prediction.
std::string predicted_bound(const CountedStage& stage);

/// The beginning of these sentences: "Predicted for an H100: ".
std::string predicted_lead(const std::string& gpu);

/// The GPU of that name with its article: "an H100", "a K80".
std::string a_gpu(const std::string& name);

}  // namespace convladder
