// From what instructions did to figures in the profiler's vocabulary.
//
// Names are those of Nsight Compute for the same event on hardware. What is counted here are PTX instructions: exact
// for the PTX, and not the machine code that ptxas makes of it, which unrolls further, merges loads and folds
// constants.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "simulator/execution/executor.hpp"
#include "simulator/ptx/module.hpp"

namespace convladder::simulated {

struct Metric {
  std::string title;       ///< ours: "global load sectors"
  std::string name;        ///< Nsight Compute's for the same event
  std::string unit;        ///< "instructions", "sectors", "bytes", …
  std::string definition;  ///< one sentence: what is counted
  std::string note;        ///< what counting PTX, or a model of caches, means for it
  bool modelled = false;   ///< whether it comes from the model of caches
};

/// All metrics.
const std::vector<Metric>& metrics();

/// Our title for Nsight Compute's name. Empty for what is not counted here.
std::string metric_title(std::string_view name);

/// The figures of a launch, with those of the caches apart. Sums are whole numbers; ratios whose denominator is 0 are
/// left out, and so is traffic that was not counted.
struct MetricValues {
  std::vector<std::pair<std::string, double>> counted;
  std::vector<std::pair<std::string, double>> modelled;
};
MetricValues metric_values(const ptx::Kernel& kernel, const LaunchResult& launch);

}  // namespace convladder::simulated
