// One case on its way from planned to finished: verified, sampled, verified again.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/case_client.hpp"
#include "harness/options.hpp"
#include "harness/plan.hpp"

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
  std::string status = "ok";
  std::string reason;
  nlohmann::ordered_json verification;  ///< as in the record; null if it was never run
  std::vector<TimeSeries> times;        ///< the case's time first; empty unless the status is ok
  std::string stopped_because;
  nlohmann::ordered_json counters;  ///< as in the record; null for devices that do not count
  std::optional<double> prepare_ns;
  std::string choice;
  std::string input_kind = "images";
  nlohmann::ordered_json device_state = nlohmann::ordered_json::object();
};

class Measurement {
 public:
  Measurement(const PlannedCase& planned, const Workload& workload, const RunOptions& options,
              std::unique_ptr<CaseClient> client);

  /// Verifies on integers and on the real input and finds out how many calls make a sample. After a failure the
  /// outcome has its status and `done` is true.
  void verify_and_calibrate();
  /// Takes one sample of every time, if the case is not done.
  void take_samples();
  /// Verifies the output once more and lets the case go. A case that is wrong now loses its times.
  void finish();

  bool done() const { return !stopped_because_.empty() || outcome_.status != "ok"; }
  const PlannedCase& planned() const { return *planned_; }
  const CaseOutcome& outcome() const { return outcome_; }

 private:
  /// Asks; after a failure the reply is null and the outcome has the status.
  nlohmann::ordered_json ask(const nlohmann::ordered_json& request);
  bool take_check(const char* when, const nlohmann::ordered_json& reply);
  void add_series(const char* of, double call_ns);
  std::string stop_reason() const;

  const PlannedCase* planned_;
  const RunOptions* options_;
  std::unique_ptr<CaseClient> client_;
  CaseOutcome outcome_;
  std::string stopped_because_;
  double measured_seconds_ = 0;
};

/// How long a step of the case may take: as asked for, or 60 s and 5 s per GFLOP, which a single slow core manages.
double step_timeout_seconds(const RunOptions& options, const ConvShape& shape);

}  // namespace convladder
