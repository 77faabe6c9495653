// The machine while cases are measured on it: its ceilings, its load and its clocks. By these, times are refused and
// judged. Every command that measures has one; a duel judges by its own rounds.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/cases/ceilings.hpp"
#include "harness/measure/cases/run_group.hpp"
#include "harness/measure/cases/time_judge.hpp"
#include "harness/measure/machine/machine_load.hpp"
#include "harness/measure/machine/quality.hpp"

namespace convladder {

class CaseWatch {
 public:
  /// As CeilingSampler has it: the groups of cases that each device will measure, and what an earlier session left.
  CaseWatch(const RunOptions& options, const std::map<std::string, int>& groups, const Ceilings& recorded = {})
      : ceilings_(options, groups, recorded) {}

  /// Looks at the machine and samples the ceilings before the first case of a group.
  void before_group(const std::string& device);
  /// Remembers the state of the machine when the first sample of a case is due; further calls change nothing.
  void begin_measuring(const std::string& id);
  /// How far the samples of the case can be trusted, by what was seen since it began. None for a device with a virtual
  /// clock, and without samples.
  std::optional<Quality> quality(const std::string& id, const std::string& device, const std::vector<double>& samples,
                                 const std::optional<ClockSeen>& clock = std::nullopt, double enqueue_ns = 0);

  /// Runs the cases of a group side by side (run_group): their times are judged, and impossible ones refused.
  /// `samples_ceilings`: now and then between two rounds.
  void run(const std::vector<PlannedCase>& cases, const Workload& workload, const RunOptions& options,
           bool samples_ceilings, const CaseFinished& finished, const PhaseStarted& phase_started);

  /// The case may be run once more, as another one.
  void forget(const std::string& id) { begun_.erase(id); }

  TimeJudge& judge() { return judge_; }
  CeilingSampler& ceilings() { return ceilings_; }
  const CeilingSampler& ceilings() const { return ceilings_; }
  /// Whether the system does not tell the load of other programs.
  bool is_blind() const { return machine_.is_blind(); }

 private:
  CaseOutcome judged(const PlannedCase& planned, CaseOutcome outcome);
  std::optional<ClockSeen> clock_seen(const PlannedCase& planned, const CaseOutcome& outcome);

  MachineWatch machine_;
  CeilingSampler ceilings_;
  TimeJudge judge_{ceilings_};
  std::size_t group_anchors_ = 0;                                       ///< samples of the ceilings before the group
  std::map<std::string, double> highest_mhz_;                           ///< by device, of all samples so far
  std::map<std::string, std::chrono::steady_clock::time_point> begun_;  ///< by case, when its first sample was due
};

}  // namespace convladder
