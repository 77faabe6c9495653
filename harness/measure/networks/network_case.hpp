// One network case, seen by the harness: verified, then run in many passes, each compared with the
// verified results.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/cases/case_outcome.hpp"
#include "harness/measure/cases/counters.hpp"
#include "harness/measure/cases/time_judge.hpp"
#include "harness/measure/machine/quality.hpp"
#include "harness/measure/networks/network_plan.hpp"
#include "harness/measure/networks/network_verifier.hpp"
#include "harness/measure/plan/options.hpp"
#include "harness/measure/profile/profile_table.hpp"
#include "harness/measure/profile/program_time.hpp"
#include "harness/measure/records/recorded_case.hpp"

namespace convladder {

/// A name and its times in each pass, in nanoseconds.
struct PassSamples {
  std::string name;
  std::vector<double> samples;
};

struct StepOutcome {
  std::string name;
  std::string type;
  std::string implementation;
  std::vector<std::string> fused_with = {};  ///< layers that the step computes besides its own
  StepCheck verification;
  std::vector<double> samples;           ///< nanoseconds of each pass; empty where the device has no clock
  std::optional<CaseCounters> counters;  ///< none where the device does not count
};

/// An image that the reference and the device classify differently, or that float32 may classify differently.
struct CloseCall {
  int image = 0;
  int reference = 0;    ///< class
  int alternative = 0;  ///< the reference's second class
  int found = 0;
  double gap = 0;       ///< between the reference's two best scores
  double rounding = 0;  ///< how much float32 may change the gap
};

/// Times of batches in a program that keeps its network loaded (network/loaded_network.hpp).
struct LoadedBatches {
  std::vector<double> samples;  ///< nanoseconds of a batch, the mean of those in a row; empty where none were measured
  int in_a_row = 0;             ///< batches in each sample; fewer in one that took too long
  int compared = 0;             ///< batches of all samples, whose scores were all compared
};

struct NetworkOutcome {
  Status status = Status::ok;
  std::string reason;
  int chunk = 0;
  std::vector<StepOutcome> steps;
  std::vector<PassSamples> phases;
  std::vector<double> totals;  ///< of whole passes
  int compared_passes = 0;     ///< timed or counted ones whose scores were all compared
  LoadedBatches loaded;
  std::optional<ProgramTime> program;  ///< of the last measured pass
  ProfileTable profile;                ///< of the last pass
  std::string stopped_because;
  std::vector<CloseCall> close_calls;  ///< images within rounding, and no others: with another class the case is wrong
  std::optional<Quality> quality;      ///< none without times
  std::optional<StageFindings> checkers;  ///< of the CUDA stages from outside in its layers; none without any
  std::optional<CheckerLook> look;        ///< the same of a case that was read from a record
  int correct = 0;                        ///< images whose class is their label
  int labelled = 0;                       ///< images that count for that
};

/// Runs the case to its end, and tells `phase` each phase that begins.
NetworkOutcome run_network_case(const NetworkCase& planned, const NetworkOptions& options, const NetworkTruth& truth,
                                const NetworkWorkload& workload, const OpenNetwork& open, TimeJudge& judge,
                                const std::function<void(const char* phase)>& phase);

/// Ends the case with a status that says why: an unverified case publishes no time.
void end_network_case(NetworkOutcome& outcome, Status status, const std::string& reason);

/// Seconds that a pass or the verification may take (estimate.hpp).
double network_timeout_seconds(const NetworkCase& planned, const NetworkOptions& options);

}  // namespace convladder
