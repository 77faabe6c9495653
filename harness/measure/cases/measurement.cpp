#include "harness/measure/cases/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "devices/kernel_resources.hpp"
#include "harness/measure/cases/stage_device.hpp"
#include "harness/measure/cases/time_of.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/machine/build_information.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kRoundsOfPart = 4;  // in one of which a part is sampled
constexpr int kFewestToVary = 3;          // calls of a sample
constexpr int kPercentLookedAt = 10;      // of the samples, besides the first ones and the last
constexpr double kMostBehindNs = 20e6;    // for comparing elements of calls of a sample that is looked at
constexpr double kFewestCalls = 100;      // of a folder's stage, as long as those that are missing take no more than
constexpr double kMostForFewCallsNs = 300e6;
constexpr double kShareForLooks = 0.1;  // of the other samples' time
constexpr int kSurelyLookedAt = 2;      // samples: the last call of a cheat happens to be right in one case of ten

constexpr double kShortCallNs = 1e6;     // below it, enqueuing a call may be a part of its time that is not small
constexpr double kLeastOfNothing = 0.7;  // the share of an empty kernel's time that a call with work takes at least
constexpr double kFirstWarmUpNs = 20e6;  // a GPU's clock is up after some milliseconds of work
constexpr std::chrono::milliseconds kRecovery{20};  // for a device that was held down
constexpr std::size_t kFewestUnheld = 3;            // samples that are worth more than any number of others

/// Whether the timed code runs in a process of its own, where it can claim nothing (StageDevice).
bool is_timed_by_harness(const PlannedCase& planned) {
  const CompiledStage* const stage = planned.variant.variant->compiled_stage();
  return stage != nullptr && runs_beside(*stage);
}

/// Whether sanitizers slow the harness down but not the code that it times: no claim would fit.
bool is_slower_than_the_case(const PlannedCase& planned) {
  return build::sanitized && planned.variant.variant->compiled_stage() != nullptr;
}

std::string dim_text(const Dim3& dim) { return fmt::format("[{},{},{}]", dim.x, dim.y, dim.z); }

/// The launches that were not planned, in one line: resources and predictions go by the plan. Empty if all was launched
/// as planned.
std::string other_than_planned(const PlannedCase& planned, const std::vector<KernelCounters>& kernels) {
  if (planned.variant.variant->launches_by_itself()) return {};
  const std::vector<KernelLaunch> plan = planned.variant.variant->launch_plan(planned.work.shape);
  if (plan.empty()) return {};
  if (plan.size() != kernels.size()) {
    return fmt::format("it launches {} kernels, but its plan says {}", kernels.size(), plan.size());
  }
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const KernelCounters& kernel = kernels[i];
    const std::string name = kernel_display_name(plan[i].kernel);
    if (kernel.kernel == name && kernel.grid == plan[i].grid && kernel.block == plan[i].block) continue;
    return fmt::format("it launches \"{}\" with grid {} and block {}, and its plan says {} with {} and {}",
                       kernel.kernel, dim_text(kernel.grid), dim_text(kernel.block), name, dim_text(plan[i].grid),
                       dim_text(plan[i].block));
  }
  return {};
}

StopSettings stop_settings(const RunOptions& options) {
  return {.repetitions = options.repetitions,
          .target_half_width = options.target_half_width,
          .budget_seconds = options.budget_seconds,
          .most = static_cast<std::size_t>(options.max_samples),
          .fewest = static_cast<std::size_t>(options.fewest_samples),
          .repetitions_word = "samples",
          .most_word = "samples"};
}

}  // namespace

bool TimeSeries::is_hot() const { return cache.empty() || cache == time_of::kHot; }

Measurement::Measurement(const PlannedCase& planned, const Workload& workload, const RunOptions& options, OpenCase open,
                         bool is_beside_others)
    : planned_(&planned),
      options_(&options),
      stop_rule_(stop_rule(stop_settings(options))),
      random_(options.seed, text_hash(planned.id)),
      is_timed_elsewhere_(find_device_kind(planned.device).clock_is_virtual() || is_timed_by_harness(planned) ||
                          is_slower_than_the_case(planned)),
      has_real_clock_(!find_device_kind(planned.device).clock_is_virtual()),
      wait_watch_(options.budget_seconds),
      claimed_(is_beside_others) {
  const double tolerance = std::min(planned.variant.variant->tolerance(), kLargestTolerance);
  verifier_.emplace(std::move(open), workload, tolerance, random_.next(), planned.device == "cpu");
  outcome_.input_kind = workload.input_kind();
  const ProblemSize& size = workload.real().shape;
  outcome_.verification = Verification{.reference = std::string(planned.variant.problem->reference_name()),
                                       .tolerance = size.problem->granted_tolerance(tolerance, size)};
}

void Measurement::attempt(const std::function<void()>& step) {
  try {
    step();
  } catch (const CaseFailure& failure) {
    end(failure.status, failure.what());
    outcome_.out_of_device_memory = failure.out_of_device_memory;
    outcome_.is_memory_violation = failure.is_memory_violation;
    outcome_.failed_by_time = failure.is_by_time;
  }
}

void Measurement::end(Status status, const std::string& reason) {
  outcome_.status = status;
  outcome_.reason = reason;
  std::ranges::replace(outcome_.reason, '\n', ' ');  // a variant's exception may say it in several lines
  outcome_.times.clear();
  outcome_.counters.reset();
}

void Measurement::refuse(const Refusal& refusal) { end(refusal.status, refusal.reason); }

void Measurement::leave(const std::string& why) { end(Status::skipped, why); }

void Measurement::take_check(std::optional<Check> Verification::*when, const Check& check) {
  *outcome_.verification.*when = check;
  if (check.passed) return;
  throw CaseFailure(Status::incorrect, (when == &Verification::integers ? "on small integers: "
                                        : when == &Verification::after  ? "after timing: "
                                                                        : "") +
                                           check.first_failure);
}

void Measurement::verify_and_calibrate() {
  attempt([this] {
    verifier_->prepare(ProblemKind::integers);
    take_check(&Verification::integers, verifier_->verify().check);
    const to_case::Prepared prepared = verifier_->prepare(ProblemKind::real);
    outcome_.prepare_ns = prepared.prepare_ns;
    outcome_.choice = prepared.choice;

    const CaseVerifier::Verified verified = verifier_->verify();
    outcome_.verification->elements_compared = verified.check.compared;
    outcome_.verification->images_combined = verified.check.combined_images;
    outcome_.verification->images_compared = verified.check.images;
    take_check(&Verification::before, verified.check);
    const std::vector<VariantPart> parts = planned_->variant.variant->parts(planned_->work.shape);
    if (!parts.empty()) outcome_.verification->parts = verifier_->verify_parts(parts);
    if (!planned_->untimed.empty()) return leave("right, and not timed: " + planned_->untimed);
    if (options_->profile_calls) verifier_->ask(to_case::Profile{*options_->profile_calls});
    if (!prepared.has_clock) return count();

    // The first call of a GPU's program loads its code, or has it compiled, and says nothing about the next.
    double call_ns = verified.call_ns;
    if (prepared.can_be_cold) {
      const CaseVerifier::Verified again = verifier_->verify();
      take_check(&Verification::before, again.check);
      call_ns = std::min(call_ns, again.call_ns);
    }
    if (prepared.is_asynchronous) return add_enqueued_series(prepared, call_ns);
    has_real_clock_ = false;  // only an asynchronous device has one
    const std::string hot = prepared.can_be_cold ? time_of::kHot : "";
    if (prepared.own_layout) {
      for (const char* of : {time_of::kOp, time_of::kLayer, time_of::kLoadInput, time_of::kStoreOutput}) {
        add_series(of, hot, of == time_of::kLayer ? call_ns : 0);
      }
    } else {
      add_series(time_of::kLayer, hot, call_ns);
    }
    for (const std::string& part : prepared.parts) add_series(time_of::part(part), hot, 0);
    if (prepared.can_be_cold) add_series(std::string(outcome_.times.front().of), time_of::kCold, call_ns);
  });
}

/// Adds the times of an asynchronous device. Where calls are short, the hot time is that of recorded calls, and the
/// time of calls that are launched one by one stands beside it. A virtual clock has no times of launches.
void Measurement::add_enqueued_series(const to_case::Prepared& prepared, double call_ns) {
  std::vector<const char*> wholes = {time_of::kLayer};
  if (prepared.own_layout) {
    wholes = {time_of::kOp, time_of::kLayer, time_of::kLoadInput, time_of::kStoreOutput};
  }
  varies_ = planned_->variant.variant->compiled_stage() != nullptr && has_real_clock_;
  std::vector<const char*> launched;
  for (const char* const of : wholes) {
    if (!varies_ && call_ns < kShortCallNs && add_replayed_series(of)) {
      if (has_real_clock_) launched.push_back(of);
    } else {
      add_series(of, time_of::kHot, of == std::string(time_of::kLayer) ? call_ns : 0);
    }
  }
  for (const std::string& part : prepared.parts) add_series(time_of::part(part), time_of::kHot, 0);
  for (const char* const of : launched) add_series(of, time_of::kLaunched, 0);
  if (!prepared.can_be_cold) return;
  add_series(std::string(outcome_.times.front().of), time_of::kCold, call_ns);
  if (has_real_clock_) add_series(time_of::kEmptyKernel, time_of::kCold, 0);
}

void Measurement::count() {
  verifier_->set(Pokes::none);
  CaseCounters& counters = outcome_.counters.emplace(verifier_->ask(to_case::Count()).counters);
  const CompiledStage* const stage = planned_->variant.variant->compiled_stage();
  read_sources(counters.lines, stage == nullptr ? std::nullopt : std::optional(stage->folder));
  if (const std::string other = other_than_planned(*planned_, counters.kernels); !other.empty()) {
    throw CaseFailure(Status::refused, other);
  }
  if (counters.kernels.empty()) {
    throw CaseFailure(Status::refused, "it launched no kernel: there is nothing to count");
  }
  // Where only a part of the launches was executed, their outputs are of no use: another call is compared at the end.
  if (counters.images_executed == counters.batch) {
    // Images of the batch that the problem does not hold must have been written, too.
    if (verifier_->left_in_last_image() > 0) {
      throw CaseFailure(Status::incorrect, "when it was counted, it left parts of the batch's last image unwritten");
    }
    take_look(verifier_->check(0));
  }
  outcome_.prepare_ns.reset();
  stopped_because_ = "counted";
}

void Measurement::add_series(const std::string& of, const std::string& cache, double call_ns) {
  const double sample_ns = options_->sample_milliseconds * 1e6;
  TimeSeries series{of, cache, 1, {}};
  series.varied = varies_ && (of == time_of::kLayer || of == time_of::kOp);
  warm_up(series, kFirstWarmUpNs);
  // A call that took very many times a sample's length needs no calibration; one that took several may only have been
  // disturbed.
  if (call_ns < 40 * sample_ns) series.iterations = calls_of_sample(series).value_or(1);
  outcome_.times.push_back(std::move(series));
}

/// Adds the time of recorded calls. Returns false if the calls cannot be recorded.
bool Measurement::add_replayed_series(const std::string& of) {
  TimeSeries series{of, time_of::kHot, 1, {}};
  warm_up(series, kFirstWarmUpNs);
  series.replayed = true;
  const std::optional<int> iterations = calls_of_sample(series);
  if (!iterations) return false;
  series.iterations = *iterations;
  outcome_.times.push_back(std::move(series));
  return true;
}

namespace {

TimedKind kind_of(const TimeSeries& series) {
  return {
      .of = series.of, .cold = series.cache == time_of::kCold, .replayed = series.replayed, .varied = series.varied};
}

}  // namespace

/// The calibrated number of calls; none where they were to be recorded and cannot be.
std::optional<int> Measurement::calls_of_sample(const TimeSeries& series) {
  // On an input like those of timed calls: a stage that knew the last one would be called far too often.
  if (planned_->device == "cpu") verifier_->set_for_following_call();
  const int iterations =
      verifier_->ask(to_case::Calibrate{kind_of(series), options_->sample_milliseconds * 1e6}).iterations;
  return iterations > 0 ? std::optional(iterations) : std::nullopt;
}

/// Warms an asynchronous device up until it has reached its clock.
void Measurement::warm_up(const TimeSeries& series, double least_ns) {
  if (has_real_clock_) verifier_->ask(to_case::WarmUp{series.of, least_ns});
}

/// Whether the series gets a sample in this round. A part takes as long to be timed as the whole, whose other parts
/// have to run as well: a network has ten, which would leave little time for the whole.
bool Measurement::is_due(const TimeSeries& series) const {
  const bool is_part = series.of.starts_with(time_of::part(""));
  return !is_part || series.samples.empty() || outcome_.times.front().samples.size() % kRoundsOfPart == 0;
}

void Measurement::take_samples() {
  if (done()) return;
  ++round_;
  attempt([this] {
    // The case's own time comes last: `finish` finds the output of its last call.
    for (std::size_t i = outcome_.times.size(); i-- > 0;) {
      if (!is_due(outcome_.times[i])) continue;
      const std::size_t surely = i > 0 ? 1 : kSurelyLookedAt;
      // A look whose reference is not cheap waits until there is time for it.
      const bool by_chance = random_.chance(kPercentLookedAt) && look_allowance_ns_ >= 0;
      take_sample(i, outcome_.times[i].samples.size() < surely || by_chance);
    }
    // Samples taken at another clock may have been discarded meanwhile.
    const bool is_whole =
        std::ranges::none_of(outcome_.times, [](const TimeSeries& one) { return one.samples.empty(); });
    if (held_out_) {
      stopped_because_ = "throttled";
    } else if (is_whole) {
      stopped_because_ = stop_rule_->reason({outcome_.times.front().samples, measured_seconds_});
    }
  });
}

/// How many calls the sample needs instead; none if it is long enough. A sample shorter than a message takes on a busy
/// machine hides what it claims, and a case that calibrated itself amid a disturbance, or to cheat, found too few
/// calls.
std::optional<int> Measurement::more_calls(const TimeSeries& series, double claimed_ns) const {
  constexpr double kMostAtOnce = 16;  // times as many calls: a claim of nothing asks for very many
  constexpr int kMostIterations = 1'000'000;
  const double sample_ns = options_->sample_milliseconds * 1e6;
  const bool is_judged = planned_->device == "cpu" && !is_timed_elsewhere_ && options_->google_benchmark_flags.empty();
  const bool is_long = claimed_ns >= sample_ns / 4 || verifier_->last_answer().ns >= 4 * sample_ns;
  if (!is_judged || is_long || series.iterations > kMostIterations) return std::nullopt;
  const double factor = std::clamp(sample_ns / std::max(claimed_ns, 1.0), 2.0, kMostAtOnce);
  return static_cast<int>(std::ceil(series.iterations * factor));
}

namespace {

bool tells_anything(const to_case::StateOfDevice& state) {
  return state.clock_mhz || state.temperature_celsius || !state.held_ns.empty() || !state.held_now.empty();
}

}  // namespace

/// The state that the device reports now; empty where it reports none. `clock_mhz` is of the sample before.
to_case::StateOfDevice Measurement::device_state() {
  if (!has_real_clock_ || !tells_state_) return {};
  to_case::StateOfDevice state = verifier_->ask(to_case::State());
  if (state.temperature_celsius) outcome_.device_state.temperature_celsius.push_back(*state.temperature_celsius);
  // Read after the work, from a device that has no counters: only reasons that still hold.
  for (const std::string& reason : state.held_now) {
    std::vector<std::string>& seen = outcome_.device_state.throttle_reasons;
    if (std::ranges::find(seen, reason) == seen.end()) seen.push_back(reason);
  }
  return state;
}

Measurement::Sampled Measurement::sample_once(std::size_t index, int iterations) {
  const TimeSeries& series = outcome_.times[index];
  const auto start = Clock::now();
  warm_up(series, 0);
  verifier_->set_for_timing(iterations, series.varied);
  const to_case::StateOfDevice before = device_state();
  const auto asked = Clock::now();
  Sampled sampled;
  static_cast<to_case::Sampled&>(sampled) = verifier_->ask(to_case::Sample{kind_of(series), iterations});
  sampled.seconds = std::chrono::duration<double>(Clock::now() - (has_real_clock_ ? start : asked)).count();
  sampled.answer = verifier_->last_answer();
  measured_seconds_ += sampled.seconds;
  last_call_ = sampled.last_call;
  // A case that chose the call itself could compute that one only.
  const bool is_enqueued = planned_->device != "cpu" && sampled.untimed_calls > 0;
  const bool has_one_input = series.of == time_of::kStoreOutput || (is_enqueued && !series.varied);
  const bool has_foreign_code = planned_->variant.variant->compiled_stage() != nullptr && !is_timed_elsewhere_ &&
                                options_->google_benchmark_flags.empty();
  if (has_foreign_code && last_call_ != (has_one_input ? 1 : iterations)) {
    throw CaseFailure(Status::refused, fmt::format("it says that its last call was number {}", last_call_));
  }
  if (index == 0) {
    // A change of layout before each call takes time that is not claimed, and so do calls that Google Benchmark is told
    // to make besides the timed ones.
    const bool all_is_timed = series.of == time_of::kLayer && options_->google_benchmark_flags.empty();
    // No clock of the host agrees with a virtual one, or with a simulated device that executes call after call; and
    // code in a process beside the case's has no clock.
    const bool is_executed = series.varied && find_device_kind(planned_->device).simulates();
    if (!is_timed_elsewhere_ && !is_executed) {
      claimed_.add(sampled.ns * iterations, sampled.answer, all_is_timed,
                   verifier_->untimed_ns() + sampled.ns * sampled.untimed_calls);
    }
  }
  sampled.clock.ns = sampled.ns * iterations;
  const to_case::StateOfDevice state = device_state();
  tells_state_ = tells_state_ && (tells_anything(state) || !before.held_ns.empty());
  sampled.clock.clock_mhz = state.clock_mhz;
  for (const auto& [reason, ns] : state.held_ns) {
    const auto then = std::ranges::find(before.held_ns, reason, &std::pair<std::string, double>::first);
    if (then != before.held_ns.end()) sampled.clock.held_ns[reason] = ns - then->second;
  }
  return sampled;
}

void Measurement::forget_samples() {
  for (TimeSeries& series : outcome_.times) {
    series.samples.clear();
    series.rounds.clear();
    series.clock_mhz.clear();
    series.enqueue_ns.clear();
  }
}

/// Discards the samples that were taken before the clock was up.
void Measurement::forget_samples_below(double clock_mhz) {
  for (TimeSeries& series : outcome_.times) {
    if (series.clock_mhz.size() != series.samples.size()) continue;
    for (std::size_t i = series.samples.size(); i-- > 0;) {
      if (series.clock_mhz[i] >= clock_mhz) continue;
      const auto place = static_cast<std::ptrdiff_t>(i);
      series.samples.erase(series.samples.begin() + place);
      series.rounds.erase(series.rounds.begin() + place);
      series.clock_mhz.erase(series.clock_mhz.begin() + place);
      if (i < series.enqueue_ns.size()) series.enqueue_ns.erase(series.enqueue_ns.begin() + place);
    }
  }
}

/// Whether a sample may stand beside the others, or instead of them.
bool Measurement::stands(const ClockOfSample& sample) {
  const bool was_held = clock_watch_.is_held();
  if (!clock_watch_.why_spoiled(sample).empty()) return false;
  if (was_held != clock_watch_.is_held()) {
    // From here on the device is held down, or no longer is. Samples taken while it was not held down are worth more.
    held_out_ = clock_watch_.is_held() && outcome_.times.front().samples.size() >= kFewestUnheld;
    if (held_out_) return false;
    forget_samples();
  }
  forget_samples_below(clock_watch_.least_mhz());
  return true;
}

void Measurement::take_sample(std::size_t index, bool look) {
  const int usual = outcome_.times[index].iterations;
  while (!held_out_) {
    // Sometimes makes one more call, so that a result that is wrong in every second or sixteenth call is not always
    // right in the last one.
    const int iterations = usual + (usual >= kFewestToVary ? random_.between(0, 1) : 0);
    const Sampled sampled = sample_once(index, iterations);
    if (index == 0 && outcome_.times[index].samples.empty()) {
      if (const std::optional<int> more = more_calls(outcome_.times[index], sampled.ns * iterations)) {
        outcome_.times[index].iterations = *more;
        return take_sample(index, look);
      }
    }
    const auto begin = Clock::now();
    if (planned_->device == "cpu") look_allowance_ns_ += kShareForLooks * sampled.answer.ns;
    if (look) {
      look_at_calls(sampled.probed);
    } else if (planned_->device == "cpu" && look_allowance_ns_ > 0) {
      // Calls of every sample, as far as that takes a share of the time: which ones is drawn after they have ended.
      look_behind_calls(sampled.probed, look_allowance_ns_);
    }
    if (planned_->device == "cpu") {
      look_allowance_ns_ -= std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    }
    if (planned_->device != "cpu" && !(sampled.ns > 0 && std::isfinite(sampled.ns))) {
      throw CaseFailure(Status::refused,
                        fmt::format("its {} took no time by the device's clock", outcome_.times[index].of));
    }
    if (planned_->device == "cpu" && wait_watch_.is_spoiled(sampled.answer, sampled.seconds)) {
      measured_seconds_ -= sampled.seconds;
      continue;
    }
    if (has_real_clock_ && !stands(sampled.clock)) {
      std::this_thread::sleep_for(kRecovery);
      continue;
    }
    TimeSeries& series = outcome_.times[index];
    series.samples.push_back(sampled.ns);
    series.rounds.push_back(round_);
    if (sampled.clock.clock_mhz) series.clock_mhz.push_back(*sampled.clock.clock_mhz);
    if (has_real_clock_ && sampled.enqueue_ns) series.enqueue_ns.push_back(*sampled.enqueue_ns);
    return;
  }
}

/// Looks at the output that the last call left, and at elements that were read right after calls up to number `probed`.
void Measurement::look_at_calls(std::int64_t probed) {
  take_look(verifier_->check(last_call_));
  look_behind_calls(probed, kMostBehindNs);
}

/// Looks at elements that were read right after some of the calls up to number `probed`.
void Measurement::look_behind_calls(std::int64_t probed, double most_ns) {
  if (probed == 0) return;
  const CaseVerifier::Probes behind = verifier_->check_behind(probed, most_ns);
  if (!behind.check.passed) throw CaseFailure(Status::incorrect, "after timing: " + behind.check.first_failure);
  outcome_.verification->timed_calls_probed += behind.calls;
}

void Measurement::take_look(const Check& check) {
  take_check(&Verification::after, check);
  ++outcome_.verification->timed_calls_compared;
}

/// Looks at a call that finds the output of the call before it. All calls of a sample but the first do. Where a sample
/// is one call, none of them did, and this one does. A stage of a folder that was called only a few times is called
/// more often first: one that works in its first calls only is found.
void Measurement::look_at_following_call() {
  const TimeSeries& series = outcome_.times.front();
  int calls = series.iterations > 1 ? 0 : 1;
  const double made = static_cast<double>(series.iterations) * static_cast<double>(series.samples.size());
  if (planned_->variant.variant->compiled_stage() != nullptr && made < kFewestCalls) {
    const double affordable = kMostForFewCallsNs / std::max(median(series.samples), 1.0);
    calls = std::max(calls, static_cast<int>(std::min(kFewestCalls - made, affordable)));
  }
  if (calls == 0) return;
  verifier_->set_for_following_call();
  take_check(&Verification::after, verifier_->check(verifier_->ask(to_case::Sample{kind_of(series), calls}).last_call));
}

void Measurement::reconsider_claims() {
  for (int more = kMostReconsidered; more > 0 && !claimed_.mismatch().empty(); --more) {
    static_cast<void>(sample_once(0, outcome_.times.front().iterations));
  }
  if (const std::string mismatch = claimed_.mismatch(); !mismatch.empty())
    throw failure_by_time(Status::refused, mismatch);
}

/// Refuses a stage of untrusted code whose calls take less time than an empty kernel, timed in the same way beside
/// them: it does its work somewhere else, on another stream, or nowhere.
void Measurement::hold_against_nothing() const {
  if (!varies_) return;
  const auto nothing = std::ranges::find(outcome_.times, time_of::kEmptyKernel, &TimeSeries::of);
  if (nothing == outcome_.times.end() || nothing->samples.empty()) return;
  const double nothing_ns = median(nothing->samples);
  for (const TimeSeries& series : outcome_.times) {
    if (series.samples.empty() || !(series.of == time_of::kLayer || series.of == time_of::kOp)) continue;
    const double ns = median(series.samples);
    if (ns >= kLeastOfNothing * nothing_ns) continue;
    throw failure_by_time(
        Status::refused,
        fmt::format("its {} took {:.2f} us ({}), less than an empty kernel ({:.2f} us): its work is not on "
                    "the stream that is timed",
                    series.of, ns * 1e-3, series.cache, nothing_ns * 1e-3));
  }
}

void Measurement::finish() {
  if (outcome_.status == Status::ok) {
    attempt([this] {
      // Only a part of a launch may have been counted. Besides the counted call, one on another input is checked.
      if (outcome_.counters) return take_look(verifier_->verify().check);
      take_look(verifier_->check(last_call_));
      look_at_following_call();
      reconsider_claims();
      hold_against_nothing();
    });
  }
  if (outcome_.status == Status::ok) {
    std::erase_if(outcome_.times, [](const TimeSeries& one) { return one.samples.empty(); });  // the device was held
                                                                                               // down before a sample
                                                                                               // of it
    outcome_.stopped_because = stopped_because_;
    outcome_.clock_is_held = clock_watch_.is_held();
    if (!outcome_.times.empty() && !outcome_.times.front().clock_mhz.empty()) {
      outcome_.device_state.clock_mhz = outcome_.times.front().clock_mhz;
    }
    outcome_.device_state.samples_taken_again = clock_watch_.taken_again() + wait_watch_.taken_again();
    if (!clock_watch_.reasons().empty()) outcome_.device_state.throttle_reasons = clock_watch_.reasons();
  }
  verifier_.reset();
}

}  // namespace convladder
