#include "harness/judge/serving/submission_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/measure/cases/cases_at_a_time.hpp"
#include "harness/measure/cases/checked_stage.hpp"
#include "harness/measure/cases/self_test.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/run_material.hpp"
#include "ladders/compiled_stage.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {

namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostSized = 8;
constexpr int kMostAttempts = 3;  // where the machine spoils a measurement
constexpr std::size_t kMostCheckerFindings = 20;
// Without a time, a submission is called often enough all the same that one which works in its first calls only is
// found.
constexpr int kSamplesForNoTime = 3;
constexpr double kSampleForNoTime = 0.2;     // ms
constexpr std::size_t kLongestReason = 600;  // bytes

/// Thrown for a submission that answers each step in time and takes too long all the same.
struct OverTheLimit {};

double seconds_from(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// A submission cannot be judged as it was asked for.
struct NoSuchRequest : UserError {
  using UserError::UserError;
};

}  // namespace

SubmissionJudge::SubmissionJudge(const ServeOptions& options, const BuildProgress& progress)
    : options_(options),
      problem_(open_ladder_alone(ladder_folder_of(options.run), progress)),
      builds_(options.most_kept),
      images_(load_images("", options.run.seed, 1)),
      loop_(options_.run, images_, {.groups = {{"cpu", 1}, {"cuda", 1}}}) {}

ServedVerdict SubmissionJudge::judge(const ServedSubmission& submission) {
  ServedVerdict verdict;
  const auto end = [&verdict](VerdictStatus status, const std::string& reason) {
    verdict.status = status;
    verdict.reason = printable(reason, kLongestReason);
  };
  Clock::time_point begin = Clock::now();
  try {
    const BuiltSubmission built = builds_.build(problem_.ladder(), submission);
    verdict.compile_seconds = seconds_from(begin);
    begin = Clock::now();
    if (!built.build.error.empty()) {
      end(VerdictStatus::compile_error, built.build.error);
      verdict.findings = compiler_findings(built.build);
    } else if (!built.build.missing.empty()) {
      end(VerdictStatus::unavailable, built.build.missing);
    } else {
      judge_built(submission, built, verdict);
    }
  } catch (const NoSuchRequest& error) {
    end(VerdictStatus::bad_request, error.what());
  } catch (const std::exception& error) {  // of the machine, the folder or its reference
    end(VerdictStatus::not_judged, error.what());
  }
  verdict.verdict_seconds = seconds_from(begin);
  return verdict;
}

RunOptions SubmissionJudge::options_for(const ServedSubmission& submission, const StageSource& source) const {
  RunOptions run = options_.run;
  if (!submission.device.empty()) run.devices = {submission.device};
  run.devices = {device_of_family(source.family(), run.devices)};
  if (run.devices.front().empty()) {
    throw UserError(fmt::format("{} is no device for a source in {}", submission.device, submission.word));
  }
  run.sizes = submission.sizes;
  if (submission.measure) return run;
  run.repetitions = kSamplesForNoTime;
  run.sample_milliseconds = std::min(run.sample_milliseconds, kSampleForNoTime);
  return run;
}

void SubmissionJudge::judge_built(const ServedSubmission& submission, const BuiltSubmission& built,
                                  ServedVerdict& verdict) {
  const std::unique_ptr<Variant> variant = stage_variant({&problem_, built.source, built.build, {}});
  RunOptions run;
  std::vector<CaseGroup> groups;
  try {
    run = options_for(submission, built.source);
    groups = make_plan(problem_, {{info_of(*variant->compiled_stage(), {}), &problem_, variant.get()}}, run);
  } catch (const UserError& error) {
    throw NoSuchRequest(error.what());
  }
  for (const CaseGroup& group : groups) {
    const PlannedCase& planned = group.cases.front();
    CaseOutcome outcome = outcome_without_run(planned);
    std::optional<StageFindings> found;
    if (planned.runs()) {
      if (const std::string why = why_no_room(planned.device, planned.work.shape); !why.empty()) {
        throw NoSuchRequest(why);
      }
      const Workload& data = workload(planned);
      outcome = outcome_of(planned, data, run, submission.measure);
      if (outcome.status != Status::timeout) found = loop_.look_at(planned, &data);
    }
    const auto findings = found ? found->findings : std::vector<simulated::Finding>();
    const VerdictStatus status = verdict_of(outcome, findings);
    verdict.sizes.push_back(judged_size_json(planned, outcome, status));
    if (status == VerdictStatus::ok) continue;
    verdict.status = status;
    verdict.reason = printable(fmt::format("{}: {}", planned.work.layer, outcome.reason), kLongestReason);
    if (found) verdict.findings = checker_findings(*found);
    if (verdict.findings.size() > kMostCheckerFindings) verdict.findings.resize(kMostCheckerFindings);
    return;  // the other sizes would tell no more
  }
}

/// The outcome on one size: run again where the machine failed or was too busy to judge it.
CaseOutcome SubmissionJudge::outcome_of(const PlannedCase& planned, const Workload& workload, const RunOptions& run,
                                        bool measure) {
  if (measure && planned.has_clock && with_ceilings_.insert(planned.device).second) loop_.before_group(planned.device);
  CaseOutcome outcome;
  for (int attempt = 1; attempt <= kMostAttempts; ++attempt) {
    loop_.look_at_machine();
    try {
      outcome = run_once(planned, workload, run);
    } catch (const OverTheLimit&) {
      outcome = outcome_without_run(planned, Status::timeout,
                                    fmt::format("it had not ended after {:g} s (--limit)", options_.limit_seconds));
    } catch (const MachineFault& fault) {
      outcome = outcome_without_run(planned, Status::not_judged, fault.what());
    }
    loop_.forget(planned.id);
    if (outcome.status != Status::not_judged) break;
  }
  if (!measure) {
    outcome.times.clear();
    outcome.quality.reset();
  }
  return outcome;
}

/// Runs the case. All processes with a submission's code are started below this function and nowhere else, confined as
/// every stage of a folder is (start_case_process).
CaseOutcome SubmissionJudge::run_once(const PlannedCase& planned, const Workload& workload, const RunOptions& run) {
  CaseOutcome ended;
  const Clock::time_point begin = Clock::now();
  loop_.run({planned}, workload, run,
            {.finished = [&](const PlannedCase& /*planned*/, const CaseOutcome& outcome) { ended = outcome; },
             .phase_started =
                 [&](const PlannedCase& /*planned*/, const char* /*phase*/) {
                   if (seconds_from(begin) > options_.limit_seconds) throw OverTheLimit();
                 }});
  return ended;
}

/// The data of the case's size, with the reference's results once they were needed: kept for the next submission.
const Workload& SubmissionJudge::workload(const PlannedCase& planned) {
  const std::string name = planned.work.name();
  const auto known = std::ranges::find(sized_, name, &Sized::name);
  if (known != sized_.end()) {
    sized_.splice(sized_.begin(), sized_, known);
    return *sized_.front().workload;
  }
  auto made = std::make_unique<Workload>(planned.work, images_, options_.run.seed);
  require_telling_problem(*made);
  if (sized_.size() == kMostSized) sized_.pop_back();
  sized_.push_front({name, std::move(made)});
  return *sized_.front().workload;
}

ordered_json problem_json(const FolderProblem& problem) {
  const LadderProblem& ladder = problem.ladder();
  ordered_json languages = ordered_json::object();
  for (const std::string& word : stage_languages()) {
    const StageLanguage language = stage_language(word).value();
    constexpr const char* kLaunched = "kernels, launched as @launch lines at the head of the source say";
    if (language == StageLanguage::ptx) {
      languages[word] = kLaunched;
    } else if (language == StageLanguage::python) {
      languages[word] = fmt::format("{}; or {}", ladder.python_signature(), kLaunched);
    } else {
      languages[word] = ladder.signature(language == StageLanguage::cuda);
    }
  }
  ordered_json devices = ordered_json::array();
  for (const DeviceKind& kind : chosen_devices({}, DefaultDevices::of_every_family)) {
    devices.push_back({{"name", kind.name},
                       {"family", kind.family},
                       {"unavailable", text_or_null(kind.unavailable())},
                       {"has_clock", kind.has_clock}});
  }
  return {{"name", ladder.name},
          {"title", ladder.title},
          {"languages", std::move(languages)},
          {"sizes", ladder.sizes},
          {"counted_sizes", problem.counted_sizes()},
          {"devices", std::move(devices)},
          {"reference", problem.reference_name()},
          {"problem", parse_json(problem.text(), "problem.json", "a problem")}};
}

}  // namespace convladder
