// Sentinels: the same small cases on every machine of a plan. A machine on which they take another time than on the
// others of its kind measures everything else wrongly as well.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// Samples of a sentinel each time it runs: an interval of their median can be told, and it is soon over.
inline constexpr int kSentinelSamples = 15;
/// A machine is off where its sentinel differs by more than this part from that of the others.
inline constexpr double kSentinelLimit = 0.10;
/// Machines of a kind from which on it can be told which one is off.
inline constexpr std::size_t kFewestMachines = 3;

/// For each device with a clock the case of a plan with the least work, of the lowest rung. Ids.
std::vector<std::string> choose_sentinels(const std::vector<CaseGroup>& plan);

/// One time that a sentinel ran: `sentinels[]` of a shard's record.
struct SentinelRun {
  std::string id;
  std::size_t machine = 0;    ///< an index
  std::string failure;        ///< why it has no time; empty if it has
  double median = 0;          ///< nanoseconds
  std::optional<double> low;  ///< of the median's interval, with `high`
  std::optional<double> high;
};

/// What the sentinels say of a machine.
struct MachineVerdict {
  std::size_t machine = 0;
  bool off = false;  ///< surely beyond the limit, or the sentinel went wrong there
  std::optional<double>
      x;            ///< its sentinel's time over the median of all machines of its kind; the farthest of several
  std::string why;  ///< "its sentinel took 1.32 times the median of 5 machines of its kind"; empty if not off
};

/// Machines are compared with those of their kind (`kinds`: a number for each machine) and with no others. A machine is
/// off where the medians of its runs' intervals both lie beyond the limit, seen from the median of all machines of the
/// kind; of fewer than kFewestMachines none is, since it cannot be told which.
std::vector<MachineVerdict> judge_machines(const std::vector<SentinelRun>& runs, const std::vector<int>& kinds,
                                           double limit = kSentinelLimit);

}  // namespace convladder
