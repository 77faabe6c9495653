#include "harness/measure/cases/run_group.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>

#include "harness/measure/cases/case_client.hpp"
#include "harness/measure/cases/cases_at_a_time.hpp"
#include "harness/measure/cases/contenders.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "support/seeded_random.hpp"
#include "support/sha256.hpp"

namespace convladder {
namespace {

double timeout_seconds(const PlannedCase& planned, const RunOptions& options) {
  return step_timeout_seconds(options.timeout_seconds, {planned.work.shape.flop(), case_bytes(planned.work.shape)},
                              find_device_kind(planned.device));
}

/// A name that no other wave has, in whatever record its cases will be: 16 hexadecimal digits.
std::string new_wave() {
  static int waves = 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return sha256_hex(fmt::format("{} {} {} {}", gethostid(), getpid(), ++waves, now)).substr(0, 16);
}

/// Interleaves the cases of one wave until each has come to its end.
void run_wave(const std::vector<PlannedCase>& cases, std::size_t first, std::size_t count, const Workload& workload,
              const RunOptions& options, const CaseFinished& finished, const PhaseStarted& phase_started,
              const RoundEnded& round_ended, const RefuseTimes& refuse_times) {
  std::deque<Measurement> measurements;
  const std::string wave = new_wave();
  std::vector<Measurement*> active;
  const bool is_beside_others = has_other_processes(cases[first].device);  // asked before the cases' own are there
  const auto end = [&](Measurement& measurement) {
    measurement.finish();
    if (measurement.outcome().status == Status::ok) {
      const std::optional<Refusal> refusal = refuse_times(measurement.planned(), measurement.outcome());
      if (refusal) measurement.refuse(*refusal);
    }
    finished(measurement.planned(), measurement.outcome());
  };
  for (std::size_t i = first; i < first + count; ++i) {
    phase_started(cases[i], "verifying");
    Measurement& measurement = measurements.emplace_back(
        cases[i], workload, options,
        options.isolate
            ? start_case_process(cases[i], workload, options.google_benchmark_flags, timeout_seconds(cases[i], options))
            : start_case_here(cases[i], workload),
        is_beside_others);
    measurement.join(wave);
    measurement.verify_and_calibrate();
    if (measurement.done()) {
      end(measurement);
    } else {
      active.push_back(&measurement);
    }
  }
  SeededRandom random(options.seed, text_hash(cases[first].id));
  while (!active.empty()) {
    shuffle(active, random);
    for (Measurement* measurement : active) {
      phase_started(measurement->planned(), "measuring");
      measurement->take_samples();
      if (measurement->done()) end(*measurement);
    }
    for (Measurement* measurement : active) {
      if (measurement->done()) continue;
      const std::string why = why_beaten(*measurement, measurements);
      if (why.empty()) continue;
      measurement->leave(why);
      end(*measurement);
    }
    std::erase_if(active, [](const Measurement* measurement) { return measurement->done(); });
    round_ended();
  }
}

}  // namespace

void run_group(const std::vector<PlannedCase>& cases, const Workload& workload, const RunOptions& options,
               const CaseFinished& finished, const PhaseStarted& phase_started, const RoundEnded& round_ended,
               const RefuseTimes& refuse_times) {
  std::vector<PlannedCase> alone;  // cases that found no memory beside the others
  const auto finished_alone = [&](const PlannedCase& planned, const CaseOutcome& outcome) {
    const std::string why =
        outcome.out_of_device_memory ? why_no_room_for_layouts(planned.device, planned.work.shape) : std::string();
    if (why.empty()) return finished(planned, outcome);
    CaseOutcome skipped = outcome;
    skipped.status = Status::skipped;
    skipped.reason = fmt::format("{} ({})", why, outcome.reason);
    finished(planned, skipped);
  };
  for (std::size_t first = 0; first < cases.size();) {
    const std::size_t count = cases_at_a_time(cases[first].device, cases[first].work.shape, cases.size() - first);
    const auto finished_beside = [&](const PlannedCase& planned, const CaseOutcome& outcome) {
      if (outcome.out_of_device_memory && count > 1) {
        alone.push_back(planned);
      } else {
        finished_alone(planned, outcome);
      }
    };
    run_wave(cases, first, count, workload, options, finished_beside, phase_started, round_ended, refuse_times);
    first += count;
  }
  for (std::size_t i = 0; i < alone.size(); ++i) {
    run_wave(alone, i, 1, workload, options, finished_alone, phase_started, round_ended, refuse_times);
  }
}

}  // namespace convladder
