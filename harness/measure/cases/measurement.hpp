// The life of one case: verified, sampled, verified again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/cases/case_outcome.hpp"
#include "harness/measure/cases/case_verifier.hpp"
#include "harness/measure/cases/clock_watch.hpp"
#include "harness/measure/isolation/claimed_times.hpp"
#include "harness/measure/plan/options.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/statistics/stop_rule.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

class Measurement {
 public:
  /// `is_beside_others`: other people's processes use the device as well.
  Measurement(const PlannedCase& planned, const Workload& workload, const RunOptions& options, OpenCase open,
              bool is_beside_others = false);

  /// Verifies on integers and on the real input and finds out how many calls make a sample. After a failure the
  /// outcome has its status and `done` is true.
  void verify_and_calibrate();
  /// Takes one sample of every time, if the case is not done, and looks at the output that some of their last calls
  /// left. Each call is a round.
  void take_samples();
  /// Looks at the output of the last timed call, and at one more call that follows it where samples are of one call.
  /// Compares the times with the harness's own clock and lets the case go. A case that is wrong now loses its times.
  void finish();
  /// Why the times are impossible, with both figures: the case is refused and loses its times.
  void refuse(const Refusal& refusal);

  /// Names the wave of cases whose rounds are the same.
  void join(const std::string& wave) { outcome_.wave = wave; }

  /// Stops a case that is of no interest any more: it is skipped, for that reason, without times.
  void leave(const std::string& why);

  bool done() const { return !stopped_because_.empty() || outcome_.status != Status::ok; }
  const PlannedCase& planned() const { return *planned_; }
  const CaseOutcome& outcome() const { return outcome_; }

 private:
  /// Does one step; after a failure the outcome has the status.
  void attempt(const std::function<void()>& step);
  void end(Status status, const std::string& reason);
  void take_check(std::optional<Check> Verification::*when, const Check& check);
  void count();
  void add_series(const std::string& of, const std::string& cache, double call_ns);
  void add_enqueued_series(const to_case::Prepared& prepared, double call_ns);
  bool add_replayed_series(const std::string& of);
  bool is_due(const TimeSeries& series) const;
  std::optional<int> calls_of_sample(const TimeSeries& series);
  void take_sample(std::size_t series, bool look);
  /// The case's answer to one sample of so many calls, judged and checked.
  struct Sampled : to_case::Sampled {
    ClockOfSample clock;
    ObservedAnswer answer;
    double seconds = 0;  ///< that it took, with what is done around it
  };
  Sampled sample_once(std::size_t series, int iterations);
  to_case::StateOfDevice device_state();
  bool stands(const ClockOfSample& sample);
  void forget_samples_below(double clock_mhz);
  void forget_samples();
  void warm_up(const TimeSeries& series, double least_ns);
  /// How many calls the sample has to have instead; none if it is long enough.
  std::optional<int> more_calls(const TimeSeries& series, double claimed_ns) const;
  void look_at_calls(std::int64_t probed);
  void look_behind_calls(std::int64_t probed, double most_ns);
  void take_look(const Check& check);
  void look_at_following_call();
  void reconsider_claims();
  void hold_against_nothing() const;

  const PlannedCase* planned_;
  const RunOptions* options_;
  std::unique_ptr<StopRule> stop_rule_;
  std::optional<CaseVerifier> verifier_;
  SeededRandom random_;  ///< decides which samples are looked at
  bool is_timed_elsewhere_;
  bool has_real_clock_;      ///< of an asynchronous device: it has to be warm, and it may be slowed down
  bool tells_state_ = true;  ///< until the device has turned out not to tell it
  bool varies_ = false;      ///< a folder's code on a GPU: each of its calls has an input of its own
  bool held_out_ = false;    ///< there are samples, and no others can be had
  ClockWatch clock_watch_;
  WaitWatch wait_watch_;
  CaseOutcome outcome_;
  std::string stopped_because_;
  double measured_seconds_ = 0;
  int round_ = -1;
  std::int64_t last_call_ = 0;       ///< of the sample taken last
  double look_allowance_ns_ = 50e6;  ///< for looking at calls of samples that are not looked at anyway
  ClaimedTimes claimed_;
};

}  // namespace convladder
