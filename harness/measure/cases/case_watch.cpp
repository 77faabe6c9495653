#include "harness/measure/cases/case_watch.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/statistics/statistics.hpp"

namespace convladder {

void CaseWatch::before_group(const std::string& device) {
  machine_.look();
  group_anchors_ = anchor_samples(ceilings_.measured(), device);
  ceilings_.before_group(device);
}

void CaseWatch::begin_measuring(const std::string& id) {
  if (begun_.contains(id)) return;
  machine_.look();
  begun_[id] = std::chrono::steady_clock::now();
}

std::optional<Quality> CaseWatch::quality(const std::string& id, const std::string& device,
                                          const std::vector<double>& samples, const std::optional<ClockSeen>& clock,
                                          double enqueue_ns) {
  const auto begun = begun_.find(id);
  if (samples.empty() || begun == begun_.end() || find_device_kind(device).clock_is_virtual()) return std::nullopt;
  return judge_quality({.samples = samples,
                        .threads = device == "cpu" ? cpu_threads() : 1,
                        .load = machine_.load_since(begun->second),
                        .anchors = anchor_spread(ceilings_.measured(), device, group_anchors_),
                        .clock = clock,
                        .enqueue_ns = enqueue_ns});
}

void CaseWatch::run(const std::vector<PlannedCase>& cases, const Workload& workload, const RunOptions& options,
                    bool samples_ceilings, const CaseFinished& finished, const PhaseStarted& phase_started) {
  run_group(
      cases, workload, options,
      [&](const PlannedCase& planned, const CaseOutcome& outcome) { finished(planned, judged(planned, outcome)); },
      [&](const PlannedCase& planned, const char* phase) {
        if (std::string_view(phase) == "measuring") begin_measuring(planned.id);
        phase_started(planned, phase);
      },
      [&] {
        if (samples_ceilings) ceilings_.between_rounds(cases.front().device);
      },
      [this](const PlannedCase& planned, const CaseOutcome& outcome) {
        return refused_times(judge_, planned, outcome);
      });
}

CaseOutcome CaseWatch::judged(const PlannedCase& planned, CaseOutcome outcome) {
  if (outcome.times.empty()) return outcome;
  const TimeSeries& time = outcome.times.front();
  const double enqueue_ns = time.enqueue_ns.empty() ? 0 : median(time.enqueue_ns);
  const std::optional<ClockSeen> clock = clock_seen(planned, outcome);
  outcome.quality = quality(planned.id, planned.device, time.samples, clock, enqueue_ns);
  return outcome;
}

/// The clock during a case; none where the device does not measure its clock, and nothing else was seen of it.
std::optional<ClockSeen> CaseWatch::clock_seen(const PlannedCase& planned, const CaseOutcome& outcome) {
  ClockSeen seen;
  seen.is_held = outcome.clock_is_held;
  if (seen.is_held) seen.reasons = outcome.device_state.throttle_reasons;
  double& highest = highest_mhz_[planned.device];
  for (const TimeSeries& series : outcome.times) {
    if (!series.clock_mhz.empty()) highest = std::max(highest, std::ranges::max(series.clock_mhz));
  }
  const std::vector<double>& own = outcome.times.front().clock_mhz;
  if (!own.empty()) seen.lowest_mhz = std::ranges::min(own);
  seen.highest_mhz = highest;
  return own.empty() && !seen.is_held ? std::nullopt : std::optional(seen);
}

}  // namespace convladder
