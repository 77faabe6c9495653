// How long the kernels of a case would take on each named GPU, by simulator/gpus/time_model.hpp.
//
// It is computed from the case's counters and ptxas's report, both in the record. Nothing here is measured, and no
// check depends on it.
#pragma once

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

/// The time of the work between kernels on that GPU: copies and allocations by the model of the bus, copies and fills
/// on the device by the lower of its memory's rates, and the host's own work as measured.
double beside_ns(const GpuFacts& gpu, const WorkBeside& work);

/// The prediction for one GPU. The kernels of a case run one after another: their times add up, and the longest decides
/// which term binds.
struct GpuPrediction {
  const GpuFacts* gpu = nullptr;
  std::vector<PredictedKernel> kernels;
  double beside_ns = 0;     ///< in `ns`: the work between the kernels, which takes as long whatever the range
  std::optional<Range> ns;  ///< none if one of them cannot be launched; then no term binds either
  TimeTerm binding_low = TimeTerm::issue;
  TimeTerm binding_high = TimeTerm::issue;
};

/// The operations and bytes of all kernels together, wherever they run.
struct Roofline {
  double flop = 0;
  double shared_bytes = 0;
  double l1_bytes = 0;
  std::optional<double> l2_bytes;    ///< none if the caches were not modelled
  std::optional<double> dram_bytes;  ///< none if the caches were not modelled
};

struct Prediction {
  Roofline roofline;
  std::vector<GpuPrediction> gpus;
};

/// The prediction; none if no kernel was counted. Without resources, occupancy follows from threads alone, and the
/// range is wider.
std::optional<Prediction> predict(const CaseCounters& counted, const std::vector<LaunchResources>& resources);

}  // namespace convladder
