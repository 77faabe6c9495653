#include "harness/measure/cases/time_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "harness/measure/machine/kept_ceilings.hpp"
#include "harness/measure/machine/quality.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/units.hpp"
#include "variants/accuracy.hpp"

namespace convladder {
namespace {

constexpr double kLeastUncertainty = 1.25;
constexpr double kMostUncertainty = 4;
constexpr double kPatienceSeconds = 3;

constexpr double kTensorCores = 16;  // fp16 on tensor cores over fp32 beside them: 15 on an H100

// A build that is slow slows down the kernels that the limits are measured with, but no library.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
constexpr bool kLimitsAreTheMachines = true;
#else
constexpr bool kLimitsAreTheMachines = false;
#endif

/// The highest rate that a limit may really have: by the samples of this run, and by what the machine has reached
/// before.
std::optional<double> highest_rate(const DeviceCeilings& of_device, const CeilingLimit& limit) {
  const std::vector<double>* const samples = of_device.samples(limit);
  if (samples == nullptr || samples->empty()) return std::nullopt;
  const double highest = std::ranges::max(*samples);
  keep_ceiling(of_device.device, limit.name, highest);
  const double by_samples = highest * std::clamp(highest / median(*samples), kLeastUncertainty, kMostUncertainty);
  return std::max(by_samples, kLeastUncertainty * kept_ceiling(of_device.device, limit.name).value_or(0));
}

struct Least {
  double ns = 0;
  std::string because;
};

std::optional<Least> least_time(const Ceilings& ceilings, const std::string& device, const ProblemSize& shape,
                                double saved) {
  const DeviceCeilings* const found = find_ceilings_of(ceilings, device);
  if (found == nullptr) return std::nullopt;
  const std::optional<double> peak = highest_rate(*found, kMultiplyAddLimit);
  const std::optional<double> store = highest_rate(*found, kStoreLimit);
  const std::optional<double> copy = highest_rate(*found, kCopyLimit);
  if (!peak || !store || !copy) return std::nullopt;
  const double operations_ns = shape.least_flop() / saved / *peak;
  const double written = shape.output_bytes();
  const double all = shape.minimum_bytes();
  const double beyond_cache = std::max(0.0, 1 - static_cast<double>(found->last_level_cache_bytes) / all);
  const double bytes_ns = beyond_cache * std::max(written / *store, all / *copy);
  if (operations_ns >= bytes_ns) {
    return Least{operations_ns, fmt::format("{:.3g} GFLOP at {:.0f} GFLOP/s, the highest possible FMA peak,",
                                            shape.least_flop() / saved * 1e-9, *peak)};
  }
  return Least{bytes_ns, fmt::format("{:.3g} MB to and from memory at {:.0f} GB/s, the highest possible rate,",
                                     beyond_cache * all * 1e-6, beyond_cache * all / bytes_ns)};
}

}  // namespace

double most_saved(const ProblemVariant& variant, const ProblemSize& shape) {
  const double most = shape.problem->most_saved_operations(shape);
  const double saved = variant.info.is_library() ? most : variant.variant->saved_operations(shape);
  const double rate = std::max(variant.variant->rate_over_fma(), 1.0);
  return std::clamp(saved, 1.0, most) *
         (variant.variant->tolerance() > kFloat32Tolerance ? std::max(rate, kTensorCores) : rate);
}

std::optional<Refusal> TimeJudge::refusal(const std::string& device, const ProblemSize& shape, double saved_operations,
                                          const std::vector<ClaimedTime>& times,
                                          std::chrono::steady_clock::time_point since) {
  if (times.empty() || !kLimitsAreTheMachines) return std::nullopt;
  const ClaimedTime shortest = *std::ranges::min_element(times, {}, &ClaimedTime::ns);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kPatienceSeconds));
  while (true) {
    const std::optional<Least> least = least_time(ceilings_.measured(), device, shape, saved_operations);
    if (!least || shortest.ns >= least->ns) return std::nullopt;
    if (Clock::now() >= end || !ceilings_.again(device)) {
      return blamed(device, Status::refused,
                    fmt::format("its {} of {} is impossible: {} take {}", shortest.of, time_text(shortest.ns),
                                least->because, time_text(least->ns)),
                    since);
    }
  }
}

Refusal TimeJudge::blamed(const std::string& device, Status status, const std::string& reason,
                          std::chrono::steady_clock::time_point since) {
  const std::string busy = busy_text(machine_.load_since(since), host_threads_of(device));
  if (busy.empty()) return {status, reason};
  return {Status::not_judged, fmt::format("the machine was busy, {}: {}", busy, reason)};
}

}  // namespace convladder
