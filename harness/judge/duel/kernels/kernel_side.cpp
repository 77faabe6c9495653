#include "harness/judge/duel/kernels/kernel_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "harness/measure/cases/case_client.hpp"
#include "harness/measure/cases/time_of.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/printable.hpp"

namespace convladder {

namespace {

constexpr double kSubRunNs = 1e6;
constexpr int kMostSubRuns = 5;
constexpr int kCalibrations = 3;       // the least disturbed one counts
constexpr double kMostSlotNs = 100e6;  // for calls so long that 5 of them tell no more than fewer
constexpr double kGpuSlotNs = 10e6;
constexpr double kReplayedNs = 0.2e6;  // for a sub-run that is one graph: the overhead before it takes about 0.1 ms
constexpr int kMostReplayed = 100;     // calls; a multiple of what every percentage needs
constexpr int kFewestGpuCalls = 5;

int rounded_up(double value, int multiple) {
  const double whole = std::ceil(std::max(value, 1.0) / multiple) * multiple;
  return static_cast<int>(std::min(whole, 1e9));
}

}  // namespace

template <typename Step>
auto KernelSide::attempt(const Step& step) const {
  try {
    return step();
  } catch (const CaseFailure& failure) {
    if (failure.is_by_time) throw failure_by_time(failure.status, failure.what());
    throw KernelSide::failure({failure.status, failure.what()});
  }
}

SideFailure KernelSide::failure(const Refusal& refusal) const {
  return SideFailure(fmt::format("{}: {}: {}", role_, refusal.status, printable(refusal.reason)),
                     refusal.status == Status::not_judged);
}

SideFailure KernelSide::failure_by_time(Status status, const std::string& reason) const {
  return failure(judge_ == nullptr ? Refusal{status, reason} : judge_->blamed(planned_.device, status, reason, begin_));
}

KernelSide::KernelSide(const KernelSetting& setting, const SlotLength& length)
    : role_(setting.role),
      length_(length),
      on_processor_(setting.planned.variant.info.family == "cpu"),
      virtual_clock_(find_device_kind(setting.planned.device).clock_is_virtual()),
      extra_percent_(setting.extra_percent),
      planned_(setting.planned),
      judge_(setting.judge),
      verifier_(start_case_process(setting.planned, setting.workload, {}, setting.timeout_seconds, setting.program),
                setting.workload, setting.planned.variant.variant->tolerance(), setting.seed,
                setting.planned.device == "cpu") {
  attempt([&] {
    verifier_.prepare(ProblemKind::integers);
    require("on small integers", verifier_.verify().check);
    verifier_.prepare(ProblemKind::real);
    require("before timing", verifier_.verify().check);
  });
}

void KernelSide::require(const char* when, const Check& check) const {
  if (!check.passed) throw SideFailure(fmt::format("{}: incorrect {}: {}", role_, when, check.first_failure));
}

SlotLength KernelSide::calibrated(int extra_percent, int replayed_calls) {
  const int multiple = 100 / std::gcd(100, extra_percent);  // 5 % of 20 calls is one call
  int iterations = 1;
  if (on_processor_) attempt([&] { verifier_.set_for_following_call(); });
  for (int i = 0; i < kCalibrations; ++i) {
    iterations = std::max(iterations, attempt([&] {
                            return verifier_.ask(to_case::Calibrate{{time_of::kLayer}, kSubRunNs}).iterations;
                          }));
  }
  SlotLength length{.iterations = rounded_up(iterations, multiple), .sub_runs = 1};
  length.replayed = replayed_calls > 0;
  if (!on_processor_) {
    length.iterations = std::min(rounded_up(replayed_calls * kReplayedNs / kSubRunNs, multiple), kMostReplayed);
  }
  const double sub_run_ns = slot_of(length).values.front() * length.iterations;  // also warms up
  if (on_processor_) {
    length.sub_runs = std::clamp(static_cast<int>(kMostSlotNs / sub_run_ns), 1, kMostSubRuns);
  } else if (virtual_clock_) {
    length.sub_runs = 1;  // every call takes as long as the first
  } else {
    length.sub_runs = std::max(kFewestGpuCalls, rounded_up(kGpuSlotNs / sub_run_ns, 1));
  }
  return length;
}

int KernelSide::replayed_calls() {
  if (on_processor_ || virtual_clock_) return 0;  // launches cost nothing there
  return attempt([&] {
    return verifier_.ask(to_case::Calibrate{{.of = time_of::kLayer, .replayed = true}, kSubRunNs}).iterations;
  });
}

std::int64_t KernelSide::calls_of_slot(const SlotLength& length) const {
  return std::int64_t{length.sub_runs} * length.iterations * (100 + extra_percent_) / 100;
}

to_case::SlotTaken KernelSide::ask_for_slot(const SlotLength& length) {
  to_case::SlotTaken taken = verifier_.ask(to_case::Slot{.of = time_of::kLayer,
                                                         .iterations = length.iterations,
                                                         .sub_runs = length.sub_runs,
                                                         .extra_percent = extra_percent_,
                                                         .replayed = length.replayed});
  last_call_ = taken.last_call;
  last_length_ = length;
  return taken;
}

SlotValues KernelSide::slot_of(const SlotLength& length) {
  std::optional<double> clock;
  ObservedAnswer observed;
  const auto ns = attempt([&] {
    verifier_.set_for_timing(calls_of_slot(length), false);
    const to_case::SlotTaken taken = ask_for_slot(length);
    observed = verifier_.last_answer();
    if (!on_processor_) clock = verifier_.ask(to_case::State()).clock_mhz;
    return taken.ns;
  });
  if (ns.empty() || !std::ranges::all_of(ns, [](double value) { return value > 0 && std::isfinite(value); })) {
    throw SideFailure(fmt::format("{}: a slot took no time: the clock is too coarse", role_));
  }
  // The host's clock never agrees with a virtual one. A GPU's events are trusted: both sides are builds of this
  // program, and a slot's overhead beside its calls weighs more the shorter they are.
  if (on_processor_) {
    claimed_.add(std::accumulate(ns.begin(), ns.end(), 0.0) * length.iterations, observed, true,
                 verifier_.untimed_ns());
  }
  slots_ns_.push_back(median(ns));
  if (on_processor_) return {{std::ranges::min(ns)}, {}};
  return {{median(ns)}, {clock.value_or(0)}};
}

void KernelSide::verify_after() {
  attempt([&] {
    require("after timing", verifier_.check(last_call_));
    if (calls_of_slot(last_length_) > 1) return;
    // So far each call had its outputs filled before it: none has found the output of a call.
    verifier_.set_for_following_call();
    ask_for_slot(last_length_);
    require("after timing", verifier_.check(last_call_));
  });
  if (const std::string mismatch = claimed_.mismatch(); !mismatch.empty()) {
    throw failure_by_time(Status::refused, mismatch);
  }
  if (judge_ == nullptr || slots_ns_.empty()) return;
  const ProblemSize& shape = planned_.work.shape;
  const std::optional<Refusal> refusal = judge_->refusal(planned_.device, shape, most_saved(planned_.variant, shape),
                                                         {{"layer time", median(slots_ns_)}}, begin_);
  if (refusal) throw failure(*refusal);
}

}  // namespace convladder
