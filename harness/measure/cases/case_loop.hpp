// The loop around the cases of a command: it shows which one runs, makes their data, and watches the machine meanwhile:
// its ceilings, its load and its clocks. By these, times are refused and judged. Every command that measures has one; a
// duel judges by its own rounds.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/cases/ceilings.hpp"
#include "harness/measure/cases/run_group.hpp"
#include "harness/measure/cases/time_judge.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/machine/machine_load.hpp"
#include "harness/measure/machine/quality.hpp"
#include "support/progress.hpp"

namespace convladder {

/// The outcome of a case that is known without a run.
CaseOutcome outcome_without_run(const PlannedCase& planned, Status status, std::string reason);
/// That of a case whose plan says why it is not run.
CaseOutcome outcome_without_run(const PlannedCase& planned);

class CaseLoop {
 public:
  struct Setup {
    std::FILE* lines = nullptr;         ///< for a line per case; null: none
    int cases = 0;                      ///< that will be run
    std::map<std::string, int> groups;  ///< that each device will measure: they share the time of its ceilings
    Ceilings recorded = {};             ///< what an earlier session left
  };
  /// Options and images must outlive the loop.
  CaseLoop(const RunOptions& options, const ImageSet& images, const Setup& setup)
      : options_(options),
        images_(images),
        progress_(setup.lines, setup.cases),
        ceilings_(options, setup.groups, setup.recorded) {}

  /// Predicts what is left, in seconds; without it, other cases are assumed to take as long as those before.
  void predict(std::function<double()> seconds_left) { seconds_left_ = std::move(seconds_left); }
  /// Shows what is being done, with the time left.
  void show(const std::string& what);
  Progress& progress() { return progress_; }

  /// The data of the work on the device. They are kept until those of other work are asked for: they may be large.
  /// `images` is the most images that a device without a clock executes.
  const Workload& workload(const LayerWork& work, bool has_clock, int images = kCountedImages);
  /// Frees them, before others ask how much memory there is.
  void free_workload() { workload_.reset(); }

  /// The command's part while the cases of a group run.
  struct Hooks {
    CaseFinished finished;
    PhaseStarted phase_started = {};  ///< besides showing it
    const char* prefix = "";          ///< of what is shown: "sentinel: "
    bool samples_ceilings = false;    ///< now and then between two rounds
  };
  /// Runs the cases of a group side by side (run_group): their times are judged, and impossible ones refused. Then the
  /// checkers look at right CUDA stages that are no part of this program.
  void run(const std::vector<PlannedCase>& cases, const Workload& workload, const RunOptions& options,
           const Hooks& hooks);

  /// Looks at the machine: what the next cases are blamed for is judged by its load from now on.
  void look_at_machine();
  /// Looks at the machine and samples the ceilings before the first case of a group.
  void before_group(const std::string& device);
  /// Remembers the state of the machine when the first sample of a case is due; further calls change nothing.
  void begin_measuring(const std::string& id);
  /// How far the samples of the case can be trusted, by what was seen since it began. None for a device with a virtual
  /// clock, and without samples.
  std::optional<Quality> quality(const std::string& id, const std::string& device, const std::vector<double>& samples,
                                 const std::optional<ClockSeen>& clock = std::nullopt, double enqueue_ns = 0);
  /// The case may be run once more, as another one.
  void forget(const std::string& id) { begun_.erase(id); }

  /// Has the checkers look at the case's stage (look_at_stage), once for each stage and work: cases of several batches
  /// share the look and its time. None if its code is part of this program. `at_hand` is the case's own data, if they
  /// are there.
  std::optional<StageFindings> look_at(const PlannedCase& planned, const Workload* at_hand = nullptr);

  TimeJudge& judge() { return judge_; }
  CeilingSampler& ceilings() { return ceilings_; }
  const CeilingSampler& ceilings() const { return ceilings_; }
  /// Whether the system does not tell the load of other programs.
  bool is_blind() const { return machine_.is_blind(); }

 private:
  std::optional<Refusal> refused_times(const PlannedCase& planned, const CaseOutcome& outcome);
  std::chrono::steady_clock::time_point begin_of(const std::string& id) const;
  CaseOutcome judged(const PlannedCase& planned, CaseOutcome outcome);
  CaseOutcome checked(const PlannedCase& planned, CaseOutcome outcome, const Workload& workload);
  std::optional<ClockSeen> clock_seen(const PlannedCase& planned, const CaseOutcome& outcome);

  const RunOptions& options_;
  const ImageSet& images_;
  Progress progress_;
  std::function<double()> seconds_left_;
  std::optional<Workload> workload_;
  std::string made_for_;                            ///< the work that it is of
  std::map<std::string, StageFindings> looked_at_;  ///< by the stage's library and the work
  MachineWatch machine_;
  CeilingSampler ceilings_;
  TimeJudge judge_{ceilings_, machine_};
  std::chrono::steady_clock::time_point group_begin_ = std::chrono::steady_clock::now();
  std::size_t group_anchors_ = 0;                                       ///< samples of the ceilings before the group
  std::map<std::string, double> highest_mhz_;                           ///< by device, of all samples so far
  std::map<std::string, std::chrono::steady_clock::time_point> begun_;  ///< by case, when its first sample was due
};

}  // namespace convladder
