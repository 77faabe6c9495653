// The life of one case: verified, sampled, verified again.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases/case_verifier.hpp"
#include "harness/isolation/claimed_times.hpp"
#include "harness/plan/options.hpp"
#include "harness/plan/plan.hpp"
#include "harness/statistics/stop_rule.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

/// The samples of one kind of time, in the order they were taken.
struct TimeSeries {
  std::string of;               ///< time_of::…
  std::string cache;            ///< "hot", "cold", or empty where the device has no such choice
  int iterations = 1;           ///< calls per sample
  std::vector<double> samples;  ///< nanoseconds per call
};

/// Everything that is known of a case at its end.
struct CaseOutcome {
  Status status = Status::ok;
  std::string reason;
  nlohmann::ordered_json verification;  ///< as in the record; null if it was never run
  std::vector<TimeSeries> times;        ///< the case's time first; empty unless the status is ok
  std::string stopped_because;
  nlohmann::ordered_json counters;  ///< as in the record; null for devices that do not count
  std::optional<double> prepare_ns;
  std::string choice;
  std::string input_kind = "images";
  nlohmann::ordered_json device_state = nlohmann::ordered_json::object();
  nlohmann::ordered_json quality;     ///< as in the record; null without times, and where nobody looked
  bool out_of_device_memory = false;  ///< how it failed, if it did
};

class Measurement {
 public:
  Measurement(const PlannedCase& planned, const Workload& workload, const RunOptions& options, OpenCase open);

  /// Verifies on integers and on the real input and finds out how many calls make a sample. After a failure the
  /// outcome has its status and `done` is true.
  void verify_and_calibrate();
  /// Takes one sample of every time, if the case is not done, and looks at what some of their last calls left.
  void take_samples();
  /// Looks at what the last timed call left, and at one call more that follows it where samples are of one call. Holds
  /// the times against our own clock and lets the case go. A case that is wrong now loses its times.
  void finish();
  /// Why the times are impossible, with both figures: the case is refused and loses its times.
  void refuse(const std::string& why);

  /// It is of no interest any more, and why: skipped, without times.
  void leave(const std::string& why);

  bool done() const { return !stopped_because_.empty() || outcome_.status != Status::ok; }
  const PlannedCase& planned() const { return *planned_; }
  const CaseOutcome& outcome() const { return outcome_; }

 private:
  /// Does one step; after a failure the outcome has the status.
  void attempt(const std::function<void()>& step);
  void end(Status status, const std::string& reason);
  void take_check(const char* when, const Check& check);
  void count();
  void add_series(const std::string& of, const std::string& cache, double call_ns);
  void take_sample(std::size_t series, bool look);
  /// How many calls the sample has to have instead; none if it is long enough.
  std::optional<int> more_calls(const TimeSeries& series, double claimed_ns) const;
  nlohmann::ordered_json ask_for_sample(const TimeSeries& series, int iterations) const;
  void take_look(const Check& check);
  void look_at_following_call();
  void reconsider_claims();

  const PlannedCase* planned_;
  const RunOptions* options_;
  std::unique_ptr<StopRule> stop_rule_;
  std::optional<CaseVerifier> verifier_;
  SeededRandom random_;  ///< which samples are looked at
  bool is_timed_elsewhere_;
  CaseOutcome outcome_;
  std::string stopped_because_;
  double measured_seconds_ = 0;
  std::int64_t last_call_ = 0;  ///< of the sample taken last
  ClaimedTimes claimed_;
};

}  // namespace convladder
