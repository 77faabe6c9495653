#include "harness/commands/run/run_loop.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/cases/case_loop.hpp"
#include "harness/measure/cases/case_session.hpp"
#include "harness/measure/cases/cases_at_a_time.hpp"
#include "harness/measure/cases/self_test.hpp"
#include "harness/measure/machine/quality.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/sharding/sentinels.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

/// " ! disturbed" for the line of a case that was disturbed; empty for a good one.
std::string mark_text(const std::optional<Quality>& quality) {
  if (!quality || !quality->is_marked()) return {};
  return fmt::format(" {} {}", quality_sign(quality->mark), quality_name(quality->mark));
}

/// A line with the medians of the parts; empty for a case without parts.
std::string parts_text(const CaseOutcome& outcome) {
  const std::string mark = time_of::part("");
  std::vector<std::string> parts;
  for (const TimeSeries& series : outcome.times) {
    if (!series.of.starts_with(mark) || !series.is_hot()) continue;
    parts.push_back(fmt::format("{} {}", series.of.substr(mark.size()), time_text(median(series.samples))));
  }
  return parts.empty() ? "" : fmt::format("\n{:12}{}", "", fmt::join(parts, " + "));
}

std::string result_line(const PlannedCase& planned, const CaseOutcome& outcome) {
  if (outcome.status == Status::ok && outcome.times.empty()) {
    return fmt::format("{:<11} {:<48} {:>10.4g} warp instructions (counted)", outcome.status, planned.id,
                       warp_instructions(*outcome.counters).value_or(0));
  }
  if (outcome.times.empty()) return fmt::format("{:<11} {}: {}", outcome.status, planned.id, outcome.reason);
  const TimeSeries& time = outcome.times.front();
  const double middle = median(time.samples);
  const auto interval = median_interval(time.samples);
  const double half = interval ? (interval->high - interval->low) / 2 / middle * 100 : 0;
  const bool is_layer = planned.work.network != planned.work.shape.problem->name();  // or a problem's size
  return fmt::format("{:<11} {:<48} {:>10} ±{:4.1f}%  {:>7.1f} GFLOP/s ({} time){}{}", outcome.status, planned.id,
                     time_text(middle), half, planned.work.shape.flop() / middle,
                     time.of == time_of::kLayer && !is_layer ? "call" : time.of, mark_text(outcome.quality),
                     parts_text(outcome));
}

/// Runs one run from its first case to its last.
class LadderRun {
 public:
  LadderRun(const RunOptions& options, const RunProgress& progress, const std::vector<CaseGroup>& plan,
            const ImageSet& images, RunRecord& record)
      : options_(options),
        plan_(plan),
        record_(record),
        verbose_(progress.verbose),
        estimator_(options),
        loop_(options, images, {progress.lines, count_cases(), groups_to_run(), record.ceilings()}) {
    loop_.predict([this] { return seconds_left(); });
    for (const CaseGroup& group : plan_) {
      for (const PlannedCase& planned : group.cases) {
        if (!record_.has(planned.id)) remaining_.push_back(&planned);
      }
    }
  }

  void all(const std::vector<CaseGroup>& sentinels) {
    const std::map<std::string, int> groups = groups_to_run();
    for (const CaseGroup& group : sentinels) {
      if (groups.contains(group.device)) run_sentinel(group, "before");
    }
    std::vector<const CaseGroup*> waiting;
    for (const CaseGroup& group : plan_) {
      if (!run_one_group(group).empty()) waiting.push_back(&group);
    }
    // Others may have given memory back meanwhile, or the machine has got more.
    for (const CaseGroup* const group : waiting) {
      if (const std::string why = run_one_group(*group); !why.empty()) skip_for_room(*group, why);
    }
    for (const CaseGroup& group : sentinels) {
      if (groups.contains(group.device)) run_sentinel(group, "after");
    }
    loop_.ceilings().finish();
    record_.set_ceilings(loop_.ceilings().measured());
    record_.complete();
  }

  /// Notes on the machine.
  std::vector<std::string> notes() const {
    std::vector<std::string> notes = loop_.ceilings().lines();
    if (loop_.is_blind()) {
      notes.emplace_back(
          "the load of other programs is unknown (no data in /proc), so only samples and ceilings were judged");
    }
    std::vector<Quality> timed;
    for (const RecordedCase& one : record_.figures().cases) {
      if (one.time) timed.push_back(one.quality.value_or(Quality{}));
    }
    const std::string quality = quality_line(timed, usable_cores());
    if (!quality.empty()) notes.push_back(quality);
    return notes;
  }

 private:
  int count_cases() const {
    int count = 0;
    for (const CaseGroup& group : plan_) {
      count += static_cast<int>(std::ranges::count_if(
          group.cases, [this](const PlannedCase& planned) { return planned.runs() && !record_.has(planned.id); }));
    }
    return count;
  }

  /// The number of groups with a case to be run, by device.
  std::map<std::string, int> groups_to_run() const {
    std::map<std::string, int> groups;
    for (const CaseGroup& group : plan_) {
      const bool runs = std::ranges::any_of(
          group.cases, [this](const PlannedCase& planned) { return planned.runs() && !record_.has(planned.id); });
      if (runs) ++groups[group.device];
    }
    return groups;
  }

  double seconds_left() const {
    double sum = 0;
    for (const PlannedCase* planned : remaining_) sum += estimator_.case_seconds(*planned);
    return sum;
  }

  void finished(const PlannedCase& planned, const CaseOutcome& outcome) {
    record_.set_ceilings(loop_.ceilings().measured());
    record_.add(planned, outcome);
    std::erase_if(remaining_, [&](const PlannedCase* left) { return left->id == planned.id; });
    if (!outcome.times.empty()) estimator_.learn(planned, median(outcome.times.front().samples) * 1e-9);
    if (!planned.runs()) return;
    if (verbose_ || is_to_be_told(outcome.status) || outcome.out_of_device_memory) {
      loop_.progress().finished(result_line(planned, outcome));
    } else {
      loop_.progress().finished();
    }
  }

  /// Records cases that there was no room for at their second turn either as skipped, and says so once.
  void skip_for_room(const CaseGroup& group, const std::string& why) {
    std::string line = fmt::format("{:<11} {} on {}: {}", Status::skipped, group.work.name(), group.device, why);
    for (const PlannedCase& planned : group.cases) {
      if (record_.has(planned.id)) continue;
      PlannedCase without_room = planned;
      without_room.skipped = why;
      finished(without_room, outcome_without_run(without_room));
      if (line.empty()) {
        loop_.progress().finished();
      } else {
        loop_.progress().finished(std::exchange(line, {}));
      }
    }
  }

  /// Returns why there is no room for the group now; then only cases that do not run anyway are recorded. Empty if it
  /// ran.
  std::string run_one_group(const CaseGroup& group) {
    std::vector<PlannedCase> to_run;
    for (const PlannedCase& planned : group.cases) {
      if (record_.has(planned.id)) continue;
      if (planned.runs()) {
        to_run.push_back(planned);
      } else {
        finished(planned, outcome_without_run(planned));
      }
    }
    if (to_run.empty()) return {};
    if (std::string why = why_no_room(group.device, group.work.shape); !why.empty()) return why;
    loop_.before_group(group.device);
    const Workload& workload = loop_.workload(group.work, group.has_clock);
    if (!options_.ladder.empty()) require_telling_problem(workload);
    loop_.run(
        to_run, workload, options_,
        {.finished = [this](const PlannedCase& planned, const CaseOutcome& outcome) { finished(planned, outcome); },
         .samples_ceilings = true});
    loop_.free_workload();
    return {};
  }

  /// Runs a group of one case. Its times show the state of the machine, and are part of no ladder.
  void run_sentinel(const CaseGroup& group, const char* when) {
    RunOptions options = options_;
    options.repetitions = kSentinelSamples;
    options.profile_calls = std::nullopt;
    loop_.run(group.cases, loop_.workload(group.work, true), options,
              {.finished = [&](const PlannedCase& planned,
                               const CaseOutcome& outcome) { record_.add_sentinel(when, planned, outcome); },
               .prefix = "sentinel: "});
    loop_.free_workload();
    loop_.forget(group.cases.front().id);  // it may be one of the cases as well
  }

  const RunOptions& options_;
  const std::vector<CaseGroup>& plan_;
  RunRecord& record_;
  bool verbose_;
  Estimator estimator_;
  CaseLoop loop_;
  std::vector<const PlannedCase*> remaining_;
};

}  // namespace

int largest_batch_of(const std::vector<CaseGroup>& plan) {
  int largest = 1;
  for (const CaseGroup& group : plan) largest = std::max(largest, group.work.shape.batch);
  return largest;
}

std::vector<std::string> run_groups(const std::vector<CaseGroup>& plan, const ImageSet& images,
                                    const RunOptions& options, const RunProgress& progress, RunRecord& record,
                                    const std::vector<CaseGroup>& sentinels) {
  LadderRun run(options, progress, plan, images, record);
  run.all(sentinels);
  return run.notes();
}

}  // namespace convladder
