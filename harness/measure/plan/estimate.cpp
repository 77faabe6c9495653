#include "harness/measure/plan/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "variants/problem.hpp"
#include "variants/problem_size.hpp"

namespace convladder {
namespace {

constexpr double kStartSeconds = 0.15;        // a process, its libraries and its memory
constexpr double kGpuStartSeconds = 1.2;      // with CUDA's libraries and memory: 0.7 to 1.5 s are reported for such
                                              // machines
constexpr double kUnseenFlopPerSecond = 5e9;  // a plain loop on two cores: on the slow side, as estimates should be
constexpr double kUnseenShareOfPeak = 0.05;   // of a GPU's peak, for the lower half of a ladder
constexpr double kSimulatedFlopPerSecond = 0.5e9;
constexpr double kReferenceFlopPerSecond = 1e9;  // in float64, of a core: 0.6 to 1 GFLOP/s were seen on an AMD EPYC
constexpr double kFewestCalls = 6;               // verified twice before and once after, and three samples
constexpr double kCheckedBytesPerSecond = 2e9;   // filled, read back and compared

bool is_gpu(const DeviceKind& kind) { return kind.speed != nullptr && !kind.clock_is_virtual(); }

}  // namespace

std::string Estimator::key(const PlannedCase& planned) {
  const ProblemSize& size = planned.work.shape;
  return fmt::format("{}/{}/{}/{}", planned.device, planned.variant.info.name, size.problem->name(), size_name(size));
}

void Estimator::learn(const PlannedCase& planned, double call_seconds) {
  seconds_per_image_[key(planned)] = call_seconds / planned.work.shape.batch;
}

double Estimator::unseen_call_seconds(const DeviceKind& kind, const ProblemSize& shape) const {
  if (!is_gpu(kind)) return shape.flop() / kUnseenFlopPerSecond;
  const auto [speed, is_new] = speeds_.try_emplace(std::string(kind.name));
  if (is_new) speed->second = kind.speed();
  const double peak = speed->second.flop_per_second;
  return shape.flop() / (peak > 0 ? kUnseenShareOfPeak * peak : kUnseenFlopPerSecond);
}

double Estimator::start_seconds(const DeviceKind& kind) const {
  return is_gpu(kind) ? kGpuStartSeconds : kStartSeconds;
}

double Estimator::case_seconds(const PlannedCase& planned) const {
  if (!planned.runs()) return 0;
  const DeviceKind& kind = find_device_kind(planned.device);
  if (!planned.has_clock) {
    // Verified once, counted in two or three parts.
    const double flop = planned.work.shape.with_batch(std::min(planned.work.shape.batch, kCountedImages)).flop();
    return kStartSeconds + 2.5 * flop / kSimulatedFlopPerSecond;
  }
  const auto seen = seconds_per_image_.find(key(planned));
  const ProblemSize& shape = planned.work.shape;
  const double call = seen == seconds_per_image_.end() ? unseen_call_seconds(kind, shape) : seen->second * shape.batch;
  const double sample = std::max(call, options_->sample_milliseconds * 1e-3);
  const double sampling = options_->repetitions ? sample * *options_->repetitions
                                                : std::min(options_->budget_seconds, sample * options_->max_samples);
  const double checking = 4 * shape.output_bytes() / kCheckedBytesPerSecond;
  return start_seconds(kind) + checking + std::max(sampling + 3 * call, kFewestCalls * call);
}

double Estimator::group_seconds(const CaseGroup& group) const {
  if (std::ranges::none_of(group.cases, &PlannedCase::runs)) return 0;
  const ProblemSize& shape = group.work.shape;
  const double flop = shape.with_batch(group.has_clock ? shape.batch : std::min(shape.batch, kCountedImages)).flop();
  return flop / (kReferenceFlopPerSecond * usable_cores());
}

double network_seconds(const DeviceKind& kind, double budget_seconds, double pass_flop) {
  if (!is_gpu(kind)) return budget_seconds + pass_flop / kUnseenFlopPerSecond;
  return kGpuStartSeconds + budget_seconds + pass_flop / (kReferenceFlopPerSecond * usable_cores());
}

double step_timeout_seconds(std::optional<double> asked, const StepWork& work, const DeviceKind& kind) {
  constexpr double kStartSeconds = 60;
  constexpr double kSecondsPerFlop = 5e-9;
  constexpr double kWithoutClock = 10;
  constexpr double kShareOfPeak = 1e-3;
  constexpr double kBytesPerSecond = 0.25e9;
  if (asked) return *asked;
  const double on_host = kStartSeconds + kSecondsPerFlop * work.flop;
  if (!kind.has_clock || kind.clock_is_virtual()) return kWithoutClock * on_host;
  const DeviceSpeed speed = kind.speed == nullptr ? DeviceSpeed() : kind.speed();
  if (speed.flop_per_second <= 0) return on_host;
  return speed.start_seconds + work.flop / (kShareOfPeak * speed.flop_per_second) + work.bytes / kBytesPerSecond;
}

}  // namespace convladder
