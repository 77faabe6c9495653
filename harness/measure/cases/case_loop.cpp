#include "harness/measure/cases/case_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/measure/cases/checked_stage.hpp"
#include "harness/measure/cases/time_of.hpp"
#include "harness/measure/machine/quiet.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/statistics/statistics.hpp"

namespace convladder {

constexpr std::size_t kMostLooks = 1000;  // a run has fewer; who judges stages without end forgets old ones

CaseOutcome outcome_without_run(const PlannedCase& planned, Status status, std::string reason) {
  CaseOutcome outcome;
  outcome.status = status;
  outcome.reason = std::move(reason);
  outcome.input_kind = input_kind(planned.work);
  return outcome;
}

CaseOutcome outcome_without_run(const PlannedCase& planned) {
  const NotRun not_run = why_not_run(planned);
  return outcome_without_run(planned, not_run.status, not_run.reason);
}

void CaseLoop::show(const std::string& what) {
  if (seconds_left_) {
    progress_.show(what, seconds_left_());
  } else {
    progress_.show(what);
  }
}

const Workload& CaseLoop::workload(const LayerWork& work, bool has_clock, int images) {
  const int most = has_clock ? work.shape.batch : images;
  const std::string wanted = fmt::format("{} of {}/{}", most, work.name(), work.shape.batch);
  if (workload_ && made_for_ == wanted) return *workload_;
  show(fmt::format("{} batch {}: inputs and reference", work.name(), work.shape.batch));
  workload_.reset();
  workload_.emplace(work, images_, options_.seed, most);
  made_for_ = wanted;
  return *workload_;
}

void CaseLoop::look_at_machine() {
  machine_.look();
  group_begin_ = std::chrono::steady_clock::now();
}

void CaseLoop::before_group(const std::string& device) {
  if (options_.wait_until_quiet_seconds > 0) {
    const std::string busy = wait_until_quiet(
        host_threads_of(device), options_.wait_until_quiet_seconds, [this](const std::string& others, double left) {
          progress_.show(fmt::format("waiting until the machine is quiet: {}", others), left);
        });
    if (!busy.empty()) progress_.note(fmt::format("the machine did not become quiet: {}", busy));
  }
  look_at_machine();
  group_anchors_ = anchor_samples(ceilings_.measured(), device);
  ceilings_.before_group(device);
}

void CaseLoop::begin_measuring(const std::string& id) {
  if (begun_.contains(id)) return;
  machine_.look();
  begun_[id] = std::chrono::steady_clock::now();
}

std::optional<Quality> CaseLoop::quality(const std::string& id, const std::string& device,
                                         const std::vector<double>& samples, const std::optional<ClockSeen>& clock,
                                         double enqueue_ns) {
  const auto begun = begun_.find(id);
  if (samples.empty() || begun == begun_.end() || find_device_kind(device).clock_is_virtual()) return std::nullopt;
  return judge_quality({.samples = samples,
                        .threads = host_threads_of(device),
                        .load = machine_.load_since(begun->second),
                        .anchors = anchor_spread(ceilings_.measured(), device, group_anchors_),
                        .clock = clock,
                        .enqueue_ns = enqueue_ns});
}

void CaseLoop::run(const std::vector<PlannedCase>& cases, const Workload& workload, const RunOptions& options,
                   const Hooks& hooks) {
  run_group(
      cases, workload, options,
      [&](const PlannedCase& planned, const CaseOutcome& outcome) {
        hooks.finished(planned, checked(planned, judged(planned, outcome), workload));
      },
      [&](const PlannedCase& planned, const char* phase) {
        if (std::string_view(phase) == "measuring") begin_measuring(planned.id);
        if (hooks.phase_started) hooks.phase_started(planned, phase);
        show(fmt::format("{}{} {}", hooks.prefix, phase, planned.id));
      },
      [&] {
        if (hooks.samples_ceilings) ceilings_.between_rounds(cases.front().device);
      },
      [this](const PlannedCase& planned, const CaseOutcome& outcome) { return refused_times(planned, outcome); });
}

/// When the first sample of a case was due; for one that did not get so far, the begin of its group.
std::chrono::steady_clock::time_point CaseLoop::begin_of(const std::string& id) const {
  const auto begun = begun_.find(id);
  return begun == begun_.end() ? group_begin_ : begun->second;
}

/// Why the judge refuses the times of a case; none if it does not.
std::optional<Refusal> CaseLoop::refused_times(const PlannedCase& planned, const CaseOutcome& outcome) {
  if (find_device_kind(planned.device).clock_is_virtual()) return std::nullopt;  // no device's limits hold for it
  std::vector<ClaimedTime> times;
  for (const TimeSeries& series : outcome.times) {
    if (series.of == time_of::kOp || series.of == time_of::kLayer) {
      times.push_back({series.of + " time", median(series.samples)});
    }
  }
  return judge_.refusal(planned.device, planned.work.shape, most_saved(planned.variant, planned.work.shape), times,
                        begin_of(planned.id));
}

std::optional<StageFindings> CaseLoop::look_at(const PlannedCase& planned, const Workload* at_hand) {
  if (!is_to_be_checked(planned)) return std::nullopt;
  const std::optional<LayerWork> work = checked_work(planned);
  const std::string key = fmt::format("{} {}", planned.variant.variant->compiled_stage()->build.library.string(),
                                      work ? work->name() : std::string());
  if (const auto known = looked_at_.find(key); known != looked_at_.end()) {
    StageFindings found = known->second;
    found.seconds = 0;
    return found;
  }
  show(fmt::format("checking {}", planned.id));
  if (looked_at_.size() == kMostLooks) looked_at_.clear();
  return looked_at_[key] = look_at_stage(planned, work, images_, options_, at_hand);
}

/// Has the checkers look at the code of a case that is right: with a finding it is right by luck, and has no figure. If
/// a case is wrong, a finding may be the cause.
CaseOutcome CaseLoop::checked(const PlannedCase& planned, CaseOutcome outcome, const Workload& workload) {
  if (outcome.status != Status::ok && outcome.status != Status::incorrect) return outcome;
  const std::optional<StageFindings> found = look_at(planned, &workload);
  if (!found) return outcome;
  if (outcome.status == Status::incorrect) {
    if (found->count() > 0) outcome.reason += fmt::format("; {}", found->in_one_line());
    return outcome;
  }
  outcome.checkers = found;
  if (found->count() == 0) return outcome;
  outcome.status = Status::unsafe;
  outcome.reason = found->in_one_line();
  outcome.times.clear();
  outcome.counters.reset();
  outcome.quality.reset();
  return outcome;
}

CaseOutcome CaseLoop::judged(const PlannedCase& planned, CaseOutcome outcome) {
  if (outcome.failed_by_time && is_failure(outcome.status)) {
    const Refusal told = judge_.blamed(planned.device, outcome.status, outcome.reason, begin_of(planned.id));
    outcome.status = told.status;
    outcome.reason = told.reason;
  }
  if (outcome.times.empty()) return outcome;
  const TimeSeries& time = outcome.times.front();
  const double enqueue_ns = time.enqueue_ns.empty() ? 0 : median(time.enqueue_ns);
  const std::optional<ClockSeen> clock = clock_seen(planned, outcome);
  outcome.quality = quality(planned.id, planned.device, time.samples, clock, enqueue_ns);
  return outcome;
}

/// The clock during a case; none where the device does not measure its clock, and nothing else was seen of it.
std::optional<ClockSeen> CaseLoop::clock_seen(const PlannedCase& planned, const CaseOutcome& outcome) {
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
