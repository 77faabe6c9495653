// Turns the counts of instructions into figures in the profiler's vocabulary.
//
// Names are those of Nsight Compute for the same event on hardware. The counts are of PTX instructions: exact for the
// PTX, but not for the machine code that ptxas makes of it, which unrolls further, merges loads and folds constants.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/execution/executor.hpp"
#include "simulator/ptx/module.hpp"

namespace convladder::simulated {

struct Metric {
  std::string title;       ///< ours: "global load sectors"
  std::string name;        ///< Nsight Compute's for the same event
  std::string unit;        ///< "instructions", "sectors", "bytes", …
  std::string definition;  ///< one sentence that says what is counted
  std::string note;        ///< how counting PTX, or a model of caches, affects the figure
  bool modelled = false;   ///< whether it comes from the model of caches
};

/// All metrics.
const std::vector<Metric>& metrics();

/// Our title for Nsight Compute's name. Empty for metrics that are not counted here.
std::string metric_title(std::string_view name);

/// The figures of a launch; those of the caches are kept apart. Sums are whole numbers. Ratios whose denominator is 0
/// and traffic that was not counted are left out.
struct MetricValues {
  std::vector<std::pair<std::string, double>> counted;
  std::vector<std::pair<std::string, double>> modelled;
};
MetricValues metric_values(const ptx::Kernel& kernel, const LaunchResult& launch);

/// The part of one instruction in the counted figures that are sums; without those to which it adds nothing.
std::vector<std::pair<std::string_view, std::uint64_t>> counted_of(const ptx::Instruction& instruction,
                                                                   const InstructionCounters& counters);

}  // namespace convladder::simulated
