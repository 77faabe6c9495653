// How a case ended, and everything that was found out about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/cases/counters.hpp"
#include "harness/measure/isolation/status.hpp"
#include "harness/measure/machine/quality.hpp"
#include "harness/measure/verification/expectation.hpp"
#include "harness/measure/verification/step_check.hpp"
#include "simulator/state/finding.hpp"
#include "simulator/state/orders_tried.hpp"

namespace convladder {

/// The samples of one kind of time, in the order they were taken.
struct TimeSeries {
  std::string of;                    ///< time_of::…
  std::string cache;                 ///< "hot", "launched", "cold", or empty where the device has no such choice
  int iterations = 1;                ///< calls per sample
  std::vector<double> samples;       ///< nanoseconds per call
  std::vector<double> clock_mhz{};   ///< of the device during each sample; empty, or one for each sample
  std::vector<double> enqueue_ns{};  ///< host time for enqueuing a call; empty, or one for each sample
  std::vector<int> rounds{};         ///< of its wave, in which each sample was taken, from 0
  bool replayed = false;             ///< its calls are recorded once and enqueued many at a time
  bool varied = false;               ///< each call has an input of its own

  bool is_hot() const;
};

/// The comparisons of a case's outputs with float64.
struct Verification {
  std::string reference;  ///< the name of the problem's reference
  double tolerance = 0;   ///< largest allowed |error| / magnitude
  int images_compared = 0;
  int images_combined = 0;  ///< compared in random combinations only
  std::int64_t elements_compared = 0;
  std::optional<Check> before = {};    ///< on the real input; none where that was not reached, as below
  std::optional<Check> integers = {};  ///< on small integers, to the bit
  int timed_calls_compared = 0;
  int timed_calls_probed = 0;         ///< other timed calls of which a few elements, drawn by chance, were compared
  std::optional<Check> after = {};    ///< the last look at an output after timing
  std::vector<StepCheck> parts = {};  ///< of parts that are problems of their own, each by itself
};

/// Observations of a device's state while a case was timed.
struct ObservedState {
  std::vector<double> temperature_celsius;    ///< each time that it was asked
  std::vector<std::string> throttle_reasons;  ///< that held the clock down, each once
  std::vector<double> clock_mhz;              ///< during each sample of the case's time
  int samples_taken_again = 0;                ///< for a clock that was held down
};

/// The findings of the checkers in one call of a stage.
struct StageFindings {
  std::vector<simulated::Finding> findings;  ///< each once, with the number of threads; notes among them
  std::string not_checked;                   ///< the reason why nobody could look, in one line; empty if somebody did
  std::string work;                 ///< with which it was called: "row-softmax.R256C1024/1"; of several, the first
  simulated::OrdersTried orders{};  ///< what other orders of its launches have come to; none tried: nobody asked
  double seconds = 0;

  /// Adds those of another call.
  void add(StageFindings other);
  /// The number of findings that are no notes.
  std::size_t count() const { return simulated::count_findings(findings); }
  /// The first finding that is no note, and how many more there are, in one line; empty without one.
  std::string in_one_line() const;
};

/// A case that is not published, and why, in one line.
struct Refusal {
  Status status = Status::refused;
  std::string reason;
};

/// Everything that is known about a case at its end.
struct CaseOutcome {
  Status status = Status::ok;
  std::string reason;
  std::optional<Verification> verification;  ///< none if it was never run
  std::vector<TimeSeries> times;             ///< the case's time first; empty unless the status is ok
  std::string stopped_because;
  std::string wave;  ///< names the cases whose samples were taken in the same rounds; empty where nobody says
  std::optional<CaseCounters> counters;   ///< none for devices that do not count, and unless the status is ok
  std::optional<StageFindings> checkers;  ///< none where the code is this program's, and unless it was right
  std::optional<double> prepare_ns;
  std::string choice;
  std::string input_kind = "images";
  ObservedState device_state;
  bool clock_is_held = false;         ///< all samples were taken while something held the device's clock down
  std::optional<Quality> quality;     ///< none without times, and where nobody looked
  bool out_of_device_memory = false;  ///< whether it failed for lack of the device's memory
  bool is_memory_violation = false;   ///< whether it wrote where it may not
  bool failed_by_time = false;        ///< whether it took too long, or claims what the clock contradicts
};

}  // namespace convladder
