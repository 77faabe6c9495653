#include "harness/cases/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "devices/kernel_resources.hpp"
#include "harness/cases/case_session.hpp"
#include "harness/cases/counters.hpp"
#include "harness/cases/stage_device.hpp"
#include "harness/ladders/opened_ladder.hpp"
#include "harness/machine/build_information.hpp"
#include "harness/plan/device_argument.hpp"
#include "harness/plan/shape_json.hpp"
#include "support/json_text.hpp"
#include "support/text_hash.hpp"

namespace convladder {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kFewestToVary = 3;      // calls of a sample
constexpr int kPercentLookedAt = 10;  // of the samples, beside the first ones and the last
constexpr int kSurelyLookedAt = 2;    // samples: the last call of a cheat happens to be right in one case of ten

/// Whether the code that is timed runs in a process of its own, where it can claim nothing (StageDevice).
bool is_timed_by_harness(const PlannedCase& planned) {
  const FolderVariant* const stage = folder_variant(*planned.variant.variant);
  return stage != nullptr && runs_beside(*stage);
}

/// Whether sanitizers slow the harness down and not what it times: no claim would fit.
bool is_slower_than_the_case(const PlannedCase& planned) {
  return build::sanitized && folder_variant(*planned.variant.variant) != nullptr;
}

/// What was launched and not planned, in one line: resources and predictions go by the plan. Empty if it was as
/// planned.
std::string other_than_planned(const PlannedCase& planned, const ordered_json& counters) {
  if (planned.variant.variant->launches_by_itself()) return {};
  const std::vector<KernelLaunch> plan = planned.variant.variant->launch_plan(planned.work.shape);
  const ordered_json& kernels = counters.at("kernels");
  if (plan.empty()) return {};
  if (plan.size() != kernels.size()) {
    return fmt::format("it launches {} kernels, but its plan says {}", kernels.size(), plan.size());
  }
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const ordered_json& kernel = kernels.at(i);
    const std::string name = kernel_display_name(plan[i].kernel);
    if (kernel.at("kernel") == name && kernel.at("grid") == dim_json(plan[i].grid) &&
        kernel.at("block") == dim_json(plan[i].block)) {
      continue;
    }
    return fmt::format("it launches {} with grid {} and block {}, and its plan says {} with {} and {}",
                       json_line(kernel.at("kernel")), json_line(kernel.at("grid")), json_line(kernel.at("block")),
                       name, json_line(dim_json(plan[i].grid)), json_line(dim_json(plan[i].block)));
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

Measurement::Measurement(const PlannedCase& planned, const Workload& workload, const RunOptions& options, OpenCase open)
    : planned_(&planned),
      options_(&options),
      stop_rule_(stop_rule(stop_settings(options))),
      random_(options.seed, text_hash(planned.id)),
      is_timed_elsewhere_(find_device_kind(planned.device).clock_is_virtual() || is_timed_by_harness(planned) ||
                          is_slower_than_the_case(planned)) {
  const double tolerance = std::min(planned.variant.variant->tolerance(), kLargestTolerance);
  verifier_.emplace(std::move(open), workload, tolerance, random_.next(), planned.device == "cpu");
  outcome_.input_kind = workload.input_kind();
  outcome_.verification = {{"reference", planned.variant.problem->reference_name()},
                           {"tolerance", tolerance},
                           {"images_compared", 0},
                           {"images_combined", 0},
                           {"elements_compared", 0},
                           {"before", nullptr},
                           {"integers", nullptr},
                           {"timed_calls_compared", 0},
                           {"after", nullptr}};
}

void Measurement::attempt(const std::function<void()>& step) {
  try {
    step();
  } catch (const CaseFailure& failure) {
    end(failure.status, failure.what());
    outcome_.out_of_device_memory = failure.out_of_device_memory;
  } catch (const ordered_json::exception& error) {
    end(Status::crashed, fmt::format("its answers are invalid: {}", error.what()));
  }
}

void Measurement::end(Status status, const std::string& reason) {
  outcome_.status = status;
  outcome_.reason = reason;
  std::ranges::replace(outcome_.reason, '\n', ' ');  // a variant's exception may say it in several lines
  outcome_.times.clear();
  outcome_.counters = nullptr;
}

void Measurement::refuse(const std::string& why) { end(Status::refused, why); }

void Measurement::leave(const std::string& why) { end(Status::skipped, why); }

void Measurement::take_check(const char* when, const Check& check) {
  outcome_.verification[when] = check.to_json();
  if (check.passed) return;
  const std::string_view moment(when);
  throw CaseFailure(Status::incorrect, (moment == "integers" ? "on small integers: "
                                        : moment == "after"  ? "after timing: "
                                                             : "") +
                                           check.first_failure);
}

void Measurement::verify_and_calibrate() {
  attempt([this] {
    verifier_->prepare(ProblemKind::integers);
    take_check("integers", verifier_->verify().check);
    const ordered_json prepared = verifier_->prepare(ProblemKind::real);
    outcome_.prepare_ns = prepared.at("prepare_ns").get<double>();
    outcome_.choice = prepared.at("choice").get<std::string>();

    const CaseVerifier::Verified verified = verifier_->verify();
    outcome_.verification["elements_compared"] = verified.check.compared;
    outcome_.verification["images_combined"] = verified.check.combined_images;
    outcome_.verification["images_compared"] = verified.check.images;
    take_check("before", verified.check);
    if (!planned_->untimed.empty()) return leave("right, and not timed: " + planned_->untimed);
    if (options_->profile_calls) verifier_->ask({{"do", "profile"}, {"calls", *options_->profile_calls}});
    if (!prepared.value("has_clock", true)) return count();

    // The first call of a GPU's program loads its code, or has it compiled, and says nothing about the next.
    double call_ns = verified.call_ns;
    const bool can_be_cold = prepared.at("can_be_cold").get<bool>();
    if (can_be_cold) {
      const CaseVerifier::Verified again = verifier_->verify();
      take_check("before", again.check);
      call_ns = std::min(call_ns, again.call_ns);
    }
    const std::string hot = can_be_cold ? time_of::kHot : "";
    if (prepared.at("own_layout").get<bool>()) {
      for (const char* of : {time_of::kOp, time_of::kLayer, time_of::kLoadInput, time_of::kStoreOutput}) {
        add_series(of, hot, of == time_of::kLayer ? call_ns : 0);
      }
    } else {
      add_series(time_of::kLayer, hot, call_ns);
    }
    for (const auto& part : prepared.at("parts")) add_series(time_of::part(part.get<std::string>()), hot, 0);
    if (can_be_cold) add_series(std::string(outcome_.times.front().of), time_of::kCold, call_ns);
  });
}

void Measurement::count() {
  verifier_->set(Pokes::none);
  outcome_.counters = verifier_->ask({{"do", "count"}}).at("counters");
  if (const std::string other = other_than_planned(*planned_, outcome_.counters); !other.empty()) {
    throw CaseFailure(Status::refused, other);
  }
  if (outcome_.counters.at("kernels").empty()) {
    throw CaseFailure(Status::refused, "it launched no kernel: there is nothing to count");
  }
  // Whatever was executed whole has to have written the images that nobody looks at, too.
  const bool whole = outcome_.counters.at("images_executed") == outcome_.counters.at("batch");
  if (whole && verifier_->left_in_last_image() > 0) {
    throw CaseFailure(Status::incorrect, "when it was counted, it left parts of the batch's last image unwritten");
  }
  outcome_.prepare_ns.reset();
  stopped_because_ = "counted";
}

void Measurement::add_series(const std::string& of, const std::string& cache, double call_ns) {
  const double sample_ns = options_->sample_milliseconds * 1e6;
  TimeSeries series{of, cache, 1, {}};
  // A call that took very many times a sample's length needs no calibration; one that took several may only have been
  // disturbed.
  if (call_ns < 40 * sample_ns) {
    const ordered_json reply = verifier_->ask(
        {{"do", "calibrate"}, {"of", of}, {"sample_ns", sample_ns}, {"cold", series.cache == time_of::kCold}});
    series.iterations = reply.at("iterations").get<int>();
  }
  outcome_.times.push_back(std::move(series));
}

void Measurement::take_samples() {
  if (done()) return;
  attempt([this] {
    // The case's own time comes last: what its last call leaves is what `finish` finds.
    for (std::size_t i = outcome_.times.size(); i-- > 0;) {
      const std::size_t surely = i > 0 ? 1 : kSurelyLookedAt;
      take_sample(i, outcome_.times[i].samples.size() < surely || random_.chance(kPercentLookedAt));
    }
    stopped_because_ = stop_rule_->reason({outcome_.times.front().samples, measured_seconds_});
  });
}

/// What is shorter than what a message takes on a busy machine hides what it claims; whoever found its length, amid a
/// disturbance or to cheat, found too few calls.
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

void Measurement::take_sample(std::size_t index, bool look) {
  const TimeSeries& series = outcome_.times[index];
  // Sometimes one call more, so that a result that is wrong in every second or sixteenth call is not always right in
  // the last one.
  const int iterations = series.iterations + (series.iterations >= kFewestToVary ? random_.between(0, 1) : 0);
  verifier_->set_for_timing(iterations);
  const auto start = Clock::now();
  const ordered_json reply = ask_for_sample(series, iterations);
  measured_seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  last_call_ = reply.at("last_call").get<std::int64_t>();
  // Who chose it himself could compute that one only.
  const bool is_enqueued = planned_->device != "cpu" && reply.value("untimed_calls", 0) > 0;
  const bool has_one_input = series.of == time_of::kStoreOutput || is_enqueued;
  const bool has_foreign_code = folder_variant(*planned_->variant.variant) != nullptr && !is_timed_elsewhere_ &&
                                options_->google_benchmark_flags.empty();
  if (has_foreign_code && last_call_ != (has_one_input ? 1 : iterations)) {
    throw CaseFailure(Status::refused, fmt::format("it says that its last call was number {}", last_call_));
  }
  const auto nanoseconds = reply.at("ns").get<double>();
  if (index == 0 && series.samples.empty()) {
    if (const std::optional<int> more = more_calls(series, nanoseconds * iterations)) {
      outcome_.times[index].iterations = *more;
      return take_sample(index, look);
    }
  }
  outcome_.times[index].samples.push_back(nanoseconds);
  if (index == 0) {
    // A change of layout before each call takes time that is not claimed, and so do calls that Google Benchmark is told
    // to make beside the timed ones.
    const bool all_is_timed = series.of == time_of::kLayer && options_->google_benchmark_flags.empty();
    const double untimed_calls_ns = nanoseconds * reply.value("untimed_calls", 0);
    // No clock of the host agrees with a virtual one, and what runs in a process beside the case's has no clock.
    if (!is_timed_elsewhere_) {
      claimed_.add(nanoseconds * iterations, verifier_->last_answer(), all_is_timed,
                   verifier_->untimed_ns() + untimed_calls_ns);
    }
  }
  for (const auto& [name, value] : reply.at("state").items()) {
    ordered_json& seen = outcome_.device_state[name];
    if (seen.is_null()) seen = ordered_json::array();
    for (const ordered_json& entry : value.is_array() ? value : ordered_json::array({value})) {
      if (name != "throttle_reasons" || std::ranges::find(seen, entry) == seen.end()) seen.push_back(entry);
    }
  }
  if (!look) return;
  take_look(verifier_->check(last_call_));
  if (const auto probed = reply.value("probed", std::int64_t{0}); probed > 0) {
    if (const Check behind = verifier_->check_behind(probed); !behind.passed) {
      throw CaseFailure(Status::incorrect, "after timing: " + behind.first_failure);
    }
  }
}

ordered_json Measurement::ask_for_sample(const TimeSeries& series, int iterations) const {
  return verifier_->ask(
      {{"do", "sample"}, {"of", series.of}, {"iterations", iterations}, {"cold", series.cache == time_of::kCold}});
}

void Measurement::take_look(const Check& check) {
  take_check("after", check);
  ordered_json& looked_at = outcome_.verification["timed_calls_compared"];
  looked_at = looked_at.get<int>() + 1;
}

/// Of a sample's calls all but the first find the output that the call before left. Where a sample is one call, none of
/// them did, and this one does.
void Measurement::look_at_following_call() {
  const TimeSeries& series = outcome_.times.front();
  if (series.iterations > 1) return;
  verifier_->set_for_following_call();
  const ordered_json reply = ask_for_sample(series, 1);
  take_check("after", verifier_->check(reply.at("last_call").get<std::int64_t>()));
}

void Measurement::reconsider_claims() {
  for (int more = kMostReconsidered; more > 0 && !claimed_.mismatch().empty(); --more) {
    take_sample(0, false);
    outcome_.times.front().samples.pop_back();
  }
  if (const std::string mismatch = claimed_.mismatch(); !mismatch.empty()) throw CaseFailure(Status::refused, mismatch);
}

void Measurement::finish() {
  if (outcome_.status == Status::ok) {
    attempt([this] {
      // What is counted may be a part of a launch: one more call, on another input, stands for it.
      if (!outcome_.counters.is_null()) return take_look(verifier_->verify().check);
      take_look(verifier_->check(last_call_));
      look_at_following_call();
      reconsider_claims();
    });
  }
  if (outcome_.status == Status::ok) outcome_.stopped_because = stopped_because_;
  verifier_.reset();
}

}  // namespace convladder
