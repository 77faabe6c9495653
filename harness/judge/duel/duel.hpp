// A duel: two sides of the same cases, measured in turns and judged case by case. What the sides are, kernels of two
// builds or any two programs, is decided in kernels/ and programs/. docs/use/duel.md
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/duel/duel_decision.hpp"
#include "harness/judge/duel/duel_round.hpp"
#include "harness/judge/duel/duel_side.hpp"

namespace convladder {

/// The length of a slot, the same for both sides.
struct SlotLength {
  int iterations = 1;  ///< the calls of a sub-run
  int sub_runs = 1;
  bool replayed = false;  ///< on a GPU: a sub-run is one graph, so that its time does not include launching its calls
};

/// The two sides of a comparison.
class DuelPair {
 public:
  DuelPair(std::string id, std::string base_name, std::string new_name)
      : id_(std::move(id)), base_name_(std::move(base_name)), new_name_(std::move(new_name)) {}
  DuelPair(const DuelPair&) = delete;
  DuelPair& operator=(const DuelPair&) = delete;
  virtual ~DuelPair() = default;

  const std::string& id() const { return id_; }
  const std::string& base_name() const { return base_name_; }
  const std::string& new_name() const { return new_name_; }

  /// Settles a pair that is not measured: missing, new, skipped, failed.
  void settle(CaseVerdict verdict, std::string reason) {
    verdict_ = verdict;
    reason_ = std::move(reason);
  }
  bool runs() const { return reason_.empty(); }
  CaseVerdict verdict() const { return verdict_; }
  const std::string& reason() const { return reason_; }

  virtual std::vector<DuelMetric> metrics() const = 0;
  /// Whether both sides are known to work with one thread: then they take turns on one CPU.
  virtual bool has_one_thread() const = 0;
  /// Starts a side and verifies it. Throws SideFailure.
  virtual std::unique_ptr<DuelSide> open(Role role) = 0;
  /// Called once, with the first two sides: finds the length of all slots. Throws SideFailure.
  virtual SlotLength calibrate(DuelSide& base, DuelSide& now) = 0;
  /// Prepares a side that was just opened for its first slot that counts. Throws SideFailure.
  virtual void warm_up(DuelSide& side, Role /*role*/) { side.slot(); }
  /// A side's values of a metric in every run so far, where a slot is the best of some runs; empty where it is not.
  virtual std::vector<double> values_of_runs(Role /*role*/, std::size_t /*metric*/) const { return {}; }
  /// Compares what both sides have computed, where that is not done on each side. Throws SideFailure.
  virtual void verify_together(DuelSide& /*base*/, DuelSide& /*now*/) {}

  /// The differences between the sides of a pair that got slower or faster, a line each, as far as something else than
  /// its metric tells that.
  virtual std::vector<std::string> causes() { return {}; }

 private:
  std::string id_;  ///< the case's; of two variants "cpu/A..B/lenet72.conv2/100"
  std::string base_name_;
  std::string new_name_;
  CaseVerdict verdict_ = CaseVerdict::inconclusive;
  std::string reason_;
};

/// Pairs that are measured together, on one input if they have one.
class DuelGroup {
 public:
  DuelGroup(std::string title, std::string device, int host_threads)
      : title_(std::move(title)), device_(std::move(device)), host_threads_(host_threads) {}
  DuelGroup(const DuelGroup&) = delete;
  DuelGroup& operator=(const DuelGroup&) = delete;
  virtual ~DuelGroup() = default;

  const std::string& title() const { return title_; }
  const std::string& device() const { return device_; }
  /// How many threads of the host a slot keeps busy; 0 where that is not known.
  int host_threads() const { return host_threads_; }
  /// Whether its times are a virtual clock's.
  virtual bool is_predicted() const { return false; }

  /// Why its pairs do not fit this machine; empty if they do.
  virtual std::string why_no_room() const { return {}; }
  /// How many of so many pairs can be open at a time.
  virtual std::size_t open_at_a_time(std::size_t pairs) const { return pairs; }
  /// Makes the input; called before pairs are opened.
  virtual void begin() {}
  /// Drops the input; called when no pair is open.
  virtual void end() {}
  /// Notes for a reader of the result, a line each; called once, at the end.
  virtual std::vector<std::string> notes() { return {}; }

  std::vector<std::unique_ptr<DuelPair>> pairs;

 private:
  std::string title_;  ///< "lenet72.conv2, batch 100, on cpu"
  std::string device_;
  int host_threads_;
};

using DuelPlan = std::vector<std::unique_ptr<DuelGroup>>;

struct DuelSettings {
  DuelLimits limits;
  std::uint64_t seed = 1;
  std::optional<double> timeout_seconds;  ///< the limit for every step of a case
  int extra_percent = 0;                  ///< work added to the new side
  double wait_until_quiet_seconds = 0;    ///< at most, before each group of cases
  int pilot_rounds = 0;                   ///< of the base against itself, before everything else; 0 for no pilot
  std::optional<double> budget_seconds;   ///< for the confirmation, in place of the limits' most rounds
};

/// The result of a pair in one of its metrics.
struct DuelCase {
  std::string id;  ///< the pair's; where a pair has several metrics, with ": METRIC" behind it
  std::string device;
  std::string base_variant;
  std::string new_variant;
  std::string group;  ///< "lenet72.conv2, batch 100, on cpu"
  DuelMetric metric;
  bool is_predicted = false;
  CaseVerdict verdict = CaseVerdict::inconclusive;
  std::string reason;
  SlotLength length;
  std::vector<DuelRound> screen;
  std::vector<DuelRound> confirm;
  // Every run's value, warming up left out, where a slot is the best of some runs; empty where it is not. Those of the
  // base include its pilot's and its control's.
  std::vector<double> base_runs;
  std::vector<double> new_runs;
  // The changes of what it costs: of a time, or of a rate's reciprocal, so that what is above 0 is worse.
  std::optional<ChangeBounds> screened;   ///< at the screen's alpha
  std::optional<ChangeBounds> confirmed;  ///< with the bounds of Confirmation::Case
  std::optional<ChangeBounds> cycles;     ///< on a GPU that tells its clock: the change without that of the clock
  std::optional<double> p_slower;         ///< before Holm's correction
  std::optional<double> p_faster;
  std::optional<int> rounds_wanting;  ///< for an inconclusive case
  std::vector<std::string> causes;    ///< DuelPair::causes

  /// The rounds that the verdict rests on.
  const std::vector<DuelRound>& decisive_rounds() const { return confirm.empty() ? screen : confirm; }
  const std::optional<ChangeBounds>& change() const { return confirmed ? confirmed : screened; }
};

/// An outlook from the first rounds, of the base against itself.
struct Pilot {
  std::string id;
  int rounds = 0;
  double round_seconds = 0;  ///< of one round with fresh processes
  Foresight foresight;
  std::string noise;  ///< what makes this machine noisy, and what would help; empty if nothing is known
};

/// Makes a case that passed, or is inconclusive, inconclusive with a reason if the runs of a side fall into two groups:
/// it passed by its best runs, which tell nothing of how often it is slow.
void judge_runs(DuelCase& one);

struct DuelResult {
  std::vector<DuelCase> cases;  ///< in the order of the plan
  std::string same;             ///< why both sides are the same, so that nothing was measured; empty if they are not
  std::optional<Pilot> pilot;
  int most_rounds = 0;             ///< of a confirmation; by the pilot where there is a budget
  std::string control_id;          ///< the last case that was its own opponent; empty if there was none
  std::vector<DuelRound> control;  ///< in the case's first metric
  std::optional<ControlOutcome> control_outcome;
  std::string control_failure;  ///< why the control could not be measured
  std::vector<std::string> notes;

  int count(CaseVerdict verdict) const;
  bool contaminated() const;
  /// The exit code of `convladder duel`: 0 if both sides are the same; otherwise 1 if a case failed; otherwise 4 if the
  /// control moved or could not be judged, or nothing was measured; otherwise 1 if one regressed; otherwise 4 if one is
  /// missing, 2 if one is inconclusive, 0.
  int exit_code() const;
};

/// Told how a duel goes on.
struct DuelListener {
  /// Before a case is measured: "screening", "confirming" or "control", its id, and the part of the duel that is done.
  std::function<void(const char* phase, const std::string& id, double done)> phase;
  /// Told once, after the pilot, with the most rounds of a confirmation.
  std::function<void(const Pilot& pilot, int most_rounds)> pilot = [](const Pilot&, int) {};
};

/// Measures and judges all pairs of the plan.
DuelResult run_duel(const DuelPlan& plan, const DuelSettings& settings, const DuelListener& listener);

}  // namespace convladder
