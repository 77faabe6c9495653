// Sentinels: the same small cases on every machine of a plan. A machine on which their times differ from those on the
// others of its kind measures everything else wrongly as well.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// Samples of a sentinel each time it runs: enough for an interval of their median, and it is soon over.
inline constexpr int kSentinelSamples = 15;
/// A machine is off where its sentinel differs from that of the others by more than this fraction.
inline constexpr double kSentinelLimit = 0.10;
/// The fewest machines of a kind among which one can tell which is off.
inline constexpr std::size_t kFewestMachines = 3;

/// The ids of the case with the least work, of the lowest rung, for each device with a clock.
std::vector<std::string> choose_sentinels(const std::vector<CaseGroup>& plan);

/// One run of a sentinel: `sentinels[]` of a shard's record.
struct SentinelRun {
  std::string id;
  std::size_t machine = 0;    ///< its index
  std::string failure;        ///< why it has no time; empty if it has
  double median = 0;          ///< nanoseconds
  std::optional<double> low;  ///< of the median's interval; `high` is the other end
  std::optional<double> high;
};

/// The sentinels' verdict on a machine.
struct MachineVerdict {
  std::size_t machine = 0;
  bool off = false;         ///< surely beyond the limit, or the sentinel went wrong there
  std::optional<double> x;  ///< its sentinel's time over the median of all machines of its kind; the farthest from 1 if
                            ///< there are several
  std::string why;          ///< "its sentinel took 1.32 times the median of 5 machines of its kind"; empty if not off
};

/// Judges machines. They are compared with those of their kind (`kinds`: a number for each machine) and with no others.
/// A machine is off where the medians of its runs' intervals both lie beyond the limit, seen from the median of all
/// machines of the kind; with fewer than kFewestMachines none is, since nobody can tell which one it would be.
std::vector<MachineVerdict> judge_machines(const std::vector<SentinelRun>& runs, const std::vector<int>& kinds,
                                           double limit = kSentinelLimit);

}  // namespace convladder
