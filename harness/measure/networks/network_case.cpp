#include "harness/measure/networks/network_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "harness/measure/isolation/claimed_times.hpp"
#include "harness/measure/networks/network_session.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "harness/measure/statistics/stop_rule.hpp"
#include "network/network_runner.hpp"
#include "support/units.hpp"

namespace convladder {

namespace {

constexpr std::size_t kMostPasses = 100;
constexpr double kShortPassNs = 50e6;
constexpr double kLoadedShare = 0.25;  // of the time budget for passes
constexpr double kLoadedRowNs = 20e6;  // of batches in a row
constexpr double kMostLoadedRowNs =
    100e6;  // where other programs keep the processor busy: a row ends with the batch that passes this
constexpr double kMostLoadedInARow = 1000;
constexpr double kMostLoadedScores = 4e6;  // in all batches of a row
constexpr double kRepeatedNs = 20e6;  // of passes in a row: long compared with a process's wait for its turn, before
                                      // and after
constexpr double kFewestRepeated = 5;
constexpr double kMostRepeated = 1000;
constexpr double kMostOverPass = 4;  // times the claim of a pass: a busy machine may disturb all of them
constexpr int kFewestTurns = 3;      // with fewer, a disturbed cheat cannot be told from a disturbed honest case

std::unique_ptr<StopRule> pass_rule(const NetworkOptions& options) {
  if (options.repetitions) return stop_at_number(static_cast<std::size_t>(*options.repetitions), "repetitions");
  std::vector<std::unique_ptr<StopRule>> rules;
  rules.push_back(stop_before_budget(options.budget_seconds));
  rules.push_back(stop_at_number(kMostPasses, "passes"));
  return stop_at_first(std::move(rules));
}

std::unique_ptr<StopRule> loaded_rule(const NetworkOptions& options) {
  NetworkOptions share = options;
  share.budget_seconds *= kLoadedShare;
  return pass_rule(share);
}

class NetworkRun {
 public:
  NetworkRun(const NetworkCase& planned, const NetworkOptions& options, const NetworkTruth& truth,
             const NetworkWorkload& workload, const OpenNetwork& open, TimeJudge& judge,
             const std::function<void(const char*)>& phase)
      : planned_(planned),
        options_(options),
        truth_(truth),
        open_(open),
        phase_(phase),
        verifier_(planned, workload, truth, open, options.seed),
        judge_(judge),
        stop_rule_(pass_rule(options)) {}

  NetworkOutcome run() {
    try {
      verify();
      measure();
      look_at_classes();
      if (!planned_.has_clock) count();
    } catch (const CaseFailure& failure) {
      Refusal told{failure.status, failure.what()};
      if (failure.is_by_time) told = judge_.blamed(planned_.device, told.status, told.reason, begin_);
      end_network_case(outcome_, told.status, told.reason);
    }
    return std::move(outcome_);
  }

 private:
  void verify() {
    phase_("verifying");
    verifier_.verify();
    outcome_.chunk = verifier_.chunk();
    const std::vector<StepCheck> checks = verifier_.checks();
    for (std::size_t i = 0; i < checks.size(); ++i) {
      const NetworkStep& step = verifier_.steps()[i];
      outcome_.steps.push_back({.name = step.name,
                                .type = std::string(step.type),
                                .implementation = std::string(step.implementation),
                                .fused_with = step.fused_with,
                                .verification = checks[i],
                                .samples = {},
                                .counters = std::nullopt});
    }
  }

  void measure() {
    phase_(planned_.has_clock ? "measuring" : "executing");
    double seconds = 0;
    for (int passes = 0;; ++passes) {
      outcome_.stopped_because = stop_reason(passes, seconds);
      if (!outcome_.stopped_because.empty()) break;
      take_pass();
      seconds += pass_seconds_;
    }
    for (int more = kMostReconsidered; more > 0 && !(claimed_.mismatch() + claimed_layers_.mismatch()).empty();
         --more) {
      ask_pass();
    }
    refuse_impossible(claimed_, "");
    refuse_impossible(claimed_layers_, "the layers of a pass, against its phase 'run layers': ");
    if (planned_.has_clock) {
      repeat_short_passes();
      judge_convolutions();
      measure_loaded();
    }
    // Kernels and API calls come from a pass of their own, after all that are measured: recording takes time, and so
    // does the profiler's library from the moment it is first asked for.
    if (!open_.ask(to_network::Recorder()).can_record) return;
    verifier_.change_images();
    open_.ask(to_network::Pass{.record = true});
    outcome_.profile = make_profile(open_.ask(to_network::Activities()).activities);
    verifier_.compare_scores();
  }

  /// Measures the throughput of a loaded network: batch after batch through a network that stays ready, as many in a
  /// row as should take a while, so that neither a message nor threads that have to wake up are in the time.
  void measure_loaded() {
    if (options_.overlap || find_device_kind(planned_.device).clock_is_virtual()) return;
    open_.ask(to_network::Load());
    ask_loaded(1);  // the first one finds cold caches
    const double one_ns = std::max(ask_loaded(1).batch_ns, 1.0);
    const double classes = static_cast<double>(planned_.network->layers.back().output.elements());
    const double most = std::min(kMostLoadedInARow, kMostLoadedScores / classes / planned_.batch);
    outcome_.loaded.in_a_row = static_cast<int>(std::clamp(kLoadedRowNs / one_ns, 1.0, std::max(1.0, most)));
    const std::unique_ptr<StopRule> rule = loaded_rule(options_);
    double seconds = 0;
    while (rule->reason({outcome_.loaded.samples, seconds}).empty()) {
      const LoadedRow row = ask_loaded(outcome_.loaded.in_a_row);
      outcome_.loaded.samples.push_back(row.batch_ns);
      outcome_.loaded.compared += row.batches;
      seconds += row.batch_ns * row.batches * 1e-9;
    }
    for (int more = kMostReconsidered; more > 0 && !claimed_loaded_.mismatch().empty(); --more) {
      ask_loaded(outcome_.loaded.in_a_row);
    }
    refuse_impossible(claimed_loaded_, "batches through a loaded network: ");
    open_.ask(to_network::LetGo());
  }

  struct LoadedRow {
    int batches = 0;
    double batch_ns = 0;  ///< the mean
  };

  /// Runs so many batches in a row, or fewer on a machine that is too busy for them.
  LoadedRow ask_loaded(int batches) {
    NetworkVerifier::BatchesInARow row = verifier_.choose_batches(batches);
    const to_network::RowTaken taken =
        open_.ask(to_network::Loaded{row.first, row.step, row.of, batches, kMostLoadedRowNs});
    row.batches = taken.batches;
    if (row.batches < 1 || row.batches > batches) {
      throw CaseFailure(Status::crashed, "its answers are invalid: it was not asked for so many batches");
    }
    claimed_loaded_.add(taken.total_ns, open_.client->last_answer(), true);
    verifier_.compare_scores(row);
    return {row.batches, taken.total_ns / row.batches};
  }

  static void refuse_impossible(const ClaimedTimes& times, const char* of) {
    if (const std::string mismatch = times.mismatch(); !mismatch.empty())
      throw failure_by_time(Status::refused, of + mismatch);
  }

  /// Repeats short passes. One alone is lost in the time that a message takes, but many in a row are not. Both their
  /// own claim and the earlier claim of a single pass have to fit. A process that waits for a processor amid so many
  /// passes does so while they are timed, so waiting excuses nothing in their own claim.
  void repeat_short_passes() {
    const double least_pass_ns = std::max(std::ranges::min(outcome_.totals), 1.0);
    if (!passes_are_all_timed_ || !(least_pass_ns < kShortPassNs)) return;
    const double pass_ns = median(outcome_.totals);
    const int passes = static_cast<int>(std::clamp(kRepeatedNs / least_pass_ns, kFewestRepeated, kMostRepeated));
    const double may_take_ns = kMostOverPass * passes * pass_ns;
    double least_ns = std::numeric_limits<double>::infinity();
    bool as_claimed_before = false;
    ClaimedTimes claimed;
    for (int turn = 0; turn < kMostReconsidered; ++turn) {
      const double total_ns = open_.ask(to_network::Repeat{passes}).total_ns;
      const ObservedAnswer answer = open_.client->last_answer();
      claimed.add(total_ns, {.ns = answer.ns}, true);
      as_claimed_before = as_claimed_before || answer.own_ns(may_take_ns, 0) <= may_take_ns;
      least_ns = std::min(least_ns, answer.ns);
      if (turn + 1 >= kFewestTurns && as_claimed_before && claimed.mismatch().empty()) return;
    }
    refuse_impossible(claimed, fmt::format("{} passes in a row: ", passes).c_str());
    throw failure_by_time(Status::refused, fmt::format("it claims {} for a pass, but {} passes in a row took {}",
                                                       time_text(pass_ns), passes, time_text(least_ns)));
  }

  /// Checks that no convolution is faster than the limits of its device allow.
  void judge_convolutions() {
    for (std::size_t i = 0; i < outcome_.steps.size(); ++i) {
      const NetworkStep& step = verifier_.steps()[i];
      const auto variant =
          planned_.choice.convolutions.find(static_cast<std::size_t>(step.source - planned_.network->layers.data()));
      if (step.kind != StepKind::convolution || step.variant == nullptr ||
          variant == planned_.choice.convolutions.end())
        continue;
      const ProblemSize shape = step.source->size.with_batch(planned_.batch);
      const std::optional<Refusal> refusal =
          judge_.refusal(planned_.device, shape, most_saved(variant->second, shape),
                         {{fmt::format("{}'s time", step.name), median(outcome_.steps[i].samples)}}, begin_);
      if (refusal) throw CaseFailure(refusal->status, refusal->reason);
    }
  }

  struct AnsweredPass {
    to_network::PassTimes times;
    std::vector<Activity> activities;
  };

  /// Runs one pass, on images that the last one did not have: its scores and claimed times.
  AnsweredPass ask_pass() {
    verifier_.change_images();
    AnsweredPass answer;
    answer.times = open_.ask(to_network::Pass());
    const ObservedAnswer observed = open_.client->last_answer();
    answer.activities = open_.ask(to_network::Activities()).activities;
    verifier_.compare_scores();
    if (!planned_.has_clock) return answer;
    const double total_ns = answer.times.total_ns;
    claimed_.add(total_ns, observed, !answer.times.steps_apart);
    passes_are_all_timed_ = !answer.times.steps_apart;
    if (passes_are_all_timed_) claim_layers(answer.activities, total_ns);
    return answer;
  }

  void take_pass() {
    const AnsweredPass answer = ask_pass();
    ++outcome_.compared_passes;
    pass_seconds_ = answer.times.total_ns * 1e-9;
    add_pass(answer.activities, answer.times.total_ns);
    outcome_.program = answer.times.program;
  }

  /// Checks that steps timed one by one add up to their phase, except for the little between them.
  void claim_layers(const std::vector<Activity>& activities, double total_ns) {
    double layers = 0;
    for (const Activity& activity : activities) {
      if (activity.group == activity_group::kLayers) layers += activity.duration_ns;
    }
    claimed_layers_.add(
        layers, {.ns = std::min(total_ns, activity_ns(activities, activity_group::kHost, pass_phase::kLayers))}, true);
  }

  std::string_view stop_reason(int passes, double seconds) const {
    if (!planned_.has_clock && passes > 0) return "counted";
    return stop_rule_->reason({outcome_.totals, seconds});
  }

  void add_pass(const std::vector<Activity>& activities, double total_ns) {
    outcome_.profile = make_profile(activities);
    if (!planned_.has_clock) return;  // the duration of the simulation says nothing about the network
    outcome_.totals.push_back(total_ns);
    for (StepOutcome& step : outcome_.steps) {
      step.samples.push_back(activity_ns(activities, activity_group::kLayers, step.name));
    }
    for (const Activity& activity : activities) {
      if (activity.group != activity_group::kHost) continue;
      auto at = std::ranges::find(outcome_.phases, activity.name, &PassSamples::name);
      if (at == outcome_.phases.end()) {
        at = outcome_.phases.insert(outcome_.phases.end(), PassSamples{activity.name, {}});
      }
      // A phase of every chunk is one sample of the pass.
      if (at->samples.size() < outcome_.totals.size()) at->samples.push_back(0);
      at->samples.back() += activity.duration_ns;
    }
  }

  /// Checks that every pass gave every image the class of its verified scores, or the other one that rounding allows.
  void look_at_classes() {
    for (int image = 0; image < planned_.batch; ++image) {
      const ReferencePrediction expected = verifier_.expected(image);
      const int found = verifier_.found_class(image);
      if (expected.within_rounding()) {
        outcome_.close_calls.push_back({image, expected.best, expected.second, found, expected.gap, expected.rounding});
      }
      if (static_cast<std::size_t>(image) < truth_.labels.size()) {
        ++outcome_.labelled;
        outcome_.correct += found == truth_.labels[static_cast<std::size_t>(image)] ? 1 : 0;
      }
    }
  }

  void count() {
    const std::vector<to_case::Counted> counters = open_.ask(to_network::Counters()).counters;
    for (std::size_t i = 0; i < outcome_.steps.size(); ++i) {
      if (i >= counters.size()) throw CaseFailure(Status::crashed, "its answers are invalid: a step has no counters");
      outcome_.steps[i].counters = counters[i].counters;
    }
  }

  const NetworkCase& planned_;
  const NetworkOptions& options_;
  const NetworkTruth& truth_;
  const OpenNetwork& open_;
  const std::function<void(const char*)>& phase_;
  NetworkVerifier verifier_;
  ClaimedTimes claimed_;
  ClaimedTimes claimed_layers_;
  ClaimedTimes claimed_loaded_;
  double pass_seconds_ = 0;
  bool passes_are_all_timed_ = false;
  TimeJudge& judge_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::unique_ptr<StopRule> stop_rule_;
  NetworkOutcome outcome_;
};

}  // namespace

NetworkOutcome run_network_case(const NetworkCase& planned, const NetworkOptions& options, const NetworkTruth& truth,
                                const NetworkWorkload& workload, const OpenNetwork& open, TimeJudge& judge,
                                const std::function<void(const char* phase)>& phase) {
  return NetworkRun(planned, options, truth, workload, open, judge, phase).run();
}

void end_network_case(NetworkOutcome& outcome, Status status, const std::string& reason) {
  outcome.status = status;
  outcome.reason = reason;
  std::ranges::replace(outcome.reason, '\n', ' ');  // a variant's exception may say it in several lines
  for (StepOutcome& step : outcome.steps) {
    step.samples.clear();
    step.counters.reset();
  }
  outcome.phases.clear();
  outcome.totals.clear();
  outcome.loaded = {};
  outcome.program.reset();
  outcome.profile = {};
  outcome.quality.reset();
  outcome.correct = 0;
  outcome.labelled = 0;
}

double network_timeout_seconds(const NetworkCase& planned, const NetworkOptions& options) {
  std::size_t elements = planned.network->input.elements();
  for (const Layer& layer : planned.network->layers) elements += layer.output.elements();
  const StepWork work{.flop = planned.batch * network_flop(*planned.network),
                      .bytes = 4.0 * planned.batch * static_cast<double>(elements)};
  return step_timeout_seconds(options.timeout_seconds, work, find_device_kind(planned.device));
}

}  // namespace convladder
