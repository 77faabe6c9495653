// The two kinds of sides in a duel between programs: a command that is run for each slot, and a worker that stays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/judge/duel/programs/command_runner.hpp"

namespace convladder {

class ProgramSlots : public DuelSide {
 public:
  /// The text that it printed last; for a worker the text that stands for its last result.
  const std::string& output() const { return output_; }
  /// Finds the length of all slots. Called once, for the base. Throws SideFailure.
  virtual SlotLength calibrated() = 0;
  /// Works once without counting. Throws SideFailure.
  virtual void warm_up() = 0;

 protected:
  explicit ProgramSlots(const CommandRunner& runner, const SlotLength& length) : runner_(runner), length_(length) {}

  CommandRunner runner_;
  const SlotLength& length_;
  std::string output_;
};

/// For each metric the values of all runs of a side.
using MetricRuns = std::vector<std::vector<double>>;

/// A slot is some runs of the command, of which the best counts in each metric.
class CommandSlots : public ProgramSlots {
 public:
  /// `names`: where the metrics are the times of a file, the names of the cases in it. `all_runs` gets the values of
  /// every run that counts.
  CommandSlots(const CommandRunner& runner, const SlotLength& length, const std::vector<std::string>& names,
               MetricRuns& all_runs)
      : ProgramSlots(runner, length), names_(names), all_runs_(all_runs) {}

  SlotValues slot() override;
  void verify_after() override {}
  /// As many runs as take 100 ms, at most five.
  SlotLength calibrated() override;
  void warm_up() override { run(); }

 private:
  SlotValues run();
  double value_of(const MetricWish& wish, const ProgramRun& run) const;
  SlotValues times_of_file() const;

  SlotValues counted_run();

  const std::vector<std::string>& names_;
  MetricRuns& all_runs_;
  std::optional<std::string> first_output_;
};

/// A slot is some answers of a worker, of which the fastest counts.
class WorkerSlots : public ProgramSlots {
 public:
  /// Starts it. Throws SideFailure.
  WorkerSlots(const CommandRunner& runner, const SlotLength& length, int extra_percent);

  SlotValues slot() override;
  void verify_after() override;
  /// The calls that last as long as a sub-run: doubled until they do.
  SlotLength calibrated() override;
  void warm_up() override { slot(); }

 private:
  /// 5 % of 20 calls is one call.
  std::int64_t calls_step() const { return extra_percent_ == 0 ? 1 : 100; }
  std::int64_t rounded_up(double calls) const;
  WorkerProcess::Answer asked(const std::string& request);
  /// The seconds that so many calls took, and the metrics. Extra work is done and not counted.
  std::pair<double, std::vector<double>> ask(std::int64_t calls);

  int extra_percent_;
  double told_seconds_ = 0;  ///< of all its answers
  double seen_seconds_ = 0;
  std::unique_ptr<WorkerProcess> worker_;
};

}  // namespace convladder
