// The counters of a case: counted while the device executed it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devices/device.hpp"
#include "harness/measure/cases/counted_lines.hpp"

namespace convladder {

/// Counter values by the profiler's names for them. Sums end in ".sum".
using CounterValues = std::vector<std::pair<std::string, double>>;

/// The counter of that name; none where it is not there.
std::optional<double> counter_of(const CounterValues& counters, std::string_view name);
/// The sum of the counters of these names; none unless all of them are there.
std::optional<double> sum_of(const CounterValues& counters, std::span<const char* const> names);

/// Processor time of the host in a call that is not told: launching takes some, while a GPU works.
inline constexpr double kUntoldHostNs = 50e3;

/// The counters of a case, for all of its batch.
struct CaseCounters {
  int images_executed = 0;  ///< of the batch, by the blocks that ran
  int batch = 0;
  bool exact = true;       ///< false: sums are extrapolated from the blocks that ran
  CounterValues totals;    ///< sums over all kernels; of a single kernel its ratios as well
  CounterValues modelled;  ///< traffic from a model of the caches, added up in the same way
  std::vector<KernelCounters> kernels;
  std::vector<CountedLine> lines;  ///< those that hold most of it, by file and line; empty where nobody counts them
  WorkBeside beside;               ///< of the counted call; the host's own only where it is more than kUntoldHostNs

  bool operator==(const CaseCounters&) const = default;
};

/// The counters of a case that launched these kernels.
CaseCounters case_counters(std::vector<KernelCounters> kernels, int batch, bool exact = true,
                           std::vector<CountedLine> lines = {});

/// The work of a counted call besides launching kernels, in one line that begins with the case's id, and what its
/// predicted times include therefore. Empty for a call that did nothing else.
std::string beside_line(std::string_view id, const CaseCounters& counters);

/// Warp instructions; none where they were not counted.
std::optional<double> warp_instructions(const CaseCounters& counters);

}  // namespace convladder
