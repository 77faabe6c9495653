#include "harness/judge/ranking/rank_group.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "harness/measure/plan/arguments.hpp"
#include "support/errors.hpp"

namespace convladder {

using Clock = std::chrono::steady_clock;

namespace {

constexpr double kHostStepSeconds = 10;
constexpr double kHostSecondsPerFlop = 5e-9;

/// Thrown for a submission that answers each step in time and takes too long all the same.
struct OverTheLimit {};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// The number of groups that each device will measure; they share the time of its ceilings.
std::map<std::string, int> groups_of_devices(const RankPlan& plan) {
  std::map<std::string, int> groups;
  for (const RankingPlan& ranking : plan.rankings) {
    const std::size_t pairs = ranking.sizes.size() * (ranking.submissions.size() + 1);
    if (pairs > 0) groups[ranking.device] += static_cast<int>(pairs);
  }
  return groups;
}

}  // namespace

CaseOutcome ended_case(Status status, std::string reason) {
  CaseOutcome outcome;
  outcome.status = status;
  outcome.reason = std::move(reason);
  outcome.input_kind = "random";
  return outcome;
}

RankGroups::RankGroups(const RankPlan& plan, const RankOptions& options, const ImageSet& images, Progress& progress)
    : options_(options), images_(images), progress_(progress), watch_(options.run, groups_of_devices(plan)) {}

RunOptions RankGroups::options_for(const RankingPlan& ranking, std::size_t size) const {
  RunOptions run = options_.run;
  const DeviceKind& kind = find_device_kind(ranking.device);
  if (!run.timeout_seconds && kind.has_clock && kind.speed == nullptr) {
    run.timeout_seconds = kHostStepSeconds + kHostSecondsPerFlop * ranking.sizes[size].shape.flop();
  }
  return run;
}

GroupOutcomes RankGroups::run(const std::vector<PlannedCase>& cases, const RankingPlan& ranking, std::size_t size,
                              const RunOptions& run) {
  return run_within(cases, ranking, size, run, std::nullopt);
}

GroupOutcomes RankGroups::run(const std::vector<PlannedCase>& cases, const PlannedCase& of_submission,
                              const RankingPlan& ranking, std::size_t size, const RunOptions& run, bool& keep) {
  const auto all_end = [&](Status status, const std::string& reason) {
    GroupOutcomes outcomes;
    for (const PlannedCase& one : cases) outcomes[one.id] = ended_case(status, reason);
    return outcomes;
  };
  keep = true;
  try {
    return run_within(cases, ranking, size, run, options_.limit_seconds);
  } catch (const OverTheLimit&) {
    return all_end(Status::timeout, fmt::format("it had not ended after {:g} s (--limit)", options_.limit_seconds));
  } catch (const MachineFault& fault) {
    if (std::string_view(fault.what()).find(of_submission.id) == std::string_view::npos) throw;
    keep = false;  // another time the machine may be to blame after all
    return all_end(Status::crashed, fault.what());
  }
}

/// Runs cases. All processes that run a submission's code are started below this function and nowhere else, confined as
/// every stage of a folder is (start_case_process).
GroupOutcomes RankGroups::run_within(const std::vector<PlannedCase>& cases, const RankingPlan& ranking,
                                     std::size_t size, const RunOptions& run,
                                     const std::optional<double>& limit_seconds) {
  GroupOutcomes outcomes;
  std::map<std::string, int> verified;  // how often verifying began
  const Workload& workload = workload_for(ranking, size);
  watch_.before_group(ranking.device);
  const Clock::time_point begin = Clock::now();
  watch_.run(
      cases, workload, run, false,
      [&](const PlannedCase& planned, const CaseOutcome& outcome) {
        // Measured alone, it was in no round of the baseline.
        outcomes[planned.id] = verified[planned.id] > 1
                                   ? ended_case(Status::launch_failed, "there is no memory for it beside the baseline")
                                   : outcome;
      },
      [&](const PlannedCase& planned, const char* phase) {
        if (std::string_view(phase) == "verifying") ++verified[planned.id];
        if (limit_seconds && seconds_since(begin) > *limit_seconds) throw OverTheLimit();
        progress_.show(fmt::format("{} {}", phase, planned.id));
      });
  for (const PlannedCase& one : cases) watch_.forget(one.id);  // it may be in a group of another size
  return outcomes;
}

const Workload& RankGroups::workload_for(const RankingPlan& ranking, std::size_t size) {
  const LayerWork& work = ranking.sizes[size];
  const std::string key = ranking.device + "/" + work.name();
  if (workload_ && workload_key_ == key) return *workload_;
  progress_.show(fmt::format("{}: inputs and reference", work.name()));
  workload_.reset();
  workload_.emplace(work, images_, options_.run.seed, ranking.has_clock ? work.shape.batch : kCountedImages);
  workload_key_ = key;
  return *workload_;
}

}  // namespace convladder
