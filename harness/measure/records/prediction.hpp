// How long the kernels of a case would take on each named GPU, by simulator/gpus/time_model.hpp.
//
// It is computed from the case's counters and ptxas's report, both in the record. Nothing here is measured, and
// nothing is gated by it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/cases/counters.hpp"
#include "harness/measure/records/launch_resources.hpp"
#include "simulator/gpus/time_model.hpp"

namespace convladder {

struct PredictedKernel {
  std::string name;
  BlockNeeds block;
  PredictedLaunch launch;
};

/// The kernels of a case run one after another: their times add up, and the longest names what binds.
struct GpuPrediction {
  const GpuFacts* gpu = nullptr;
  std::vector<PredictedKernel> kernels;
  std::optional<Range> ns;  ///< none if one of them cannot be launched; then nothing binds either
  TimeTerm binding_low = TimeTerm::issue;
  TimeTerm binding_high = TimeTerm::issue;
};

/// What the kernels do in all, wherever they run.
struct Roofline {
  double flop = 0;
  double shared_bytes = 0;
  double l1_bytes = 0;
  std::optional<double> l2_bytes;  ///< none if the caches were not modelled, likewise below
  std::optional<double> dram_bytes;
};

struct Prediction {
  Roofline roofline;
  std::vector<GpuPrediction> gpus;
};

/// None if no kernel was counted. Where no resources are given, occupancy is of threads alone, and the range is wider.
std::optional<Prediction> predict(const CountedFigures& counted, const std::vector<LaunchResources>& resources);

/// `prediction` of a case in the record.
nlohmann::ordered_json prediction_json(const std::optional<Prediction>& prediction);

}  // namespace convladder
