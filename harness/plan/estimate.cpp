#include "harness/plan/estimate.hpp"

#include <algorithm>

namespace convladder {
namespace {

constexpr double kStartSeconds = 0.15;        // a process, its libraries and its memory
constexpr double kUnseenFlopPerSecond = 5e9;  // a plain loop on two cores: on the slow side, as estimates should be
constexpr double kSimulatedFlopPerSecond = 0.5e9;
constexpr double kFewestCalls = 6;  // verified twice before and once after, and three samples

}  // namespace

void Estimator::learn(const PlannedCase& planned, double call_seconds) {
  seconds_per_image_[key(planned)] = call_seconds / planned.work.shape.batch;
}

double Estimator::case_seconds(const PlannedCase& planned) const {
  if (!planned.runs()) return 0;
  if (!planned.has_clock) {
    // Verified once, counted in two or three parts.
    const double flop = planned.work.shape.with_batch(std::min(planned.work.shape.batch, kCountedImages)).flop();
    return kStartSeconds + 2.5 * flop / kSimulatedFlopPerSecond;
  }
  const auto seen = seconds_per_image_.find(key(planned));
  const ProblemSize& shape = planned.work.shape;
  const double call =
      seen == seconds_per_image_.end() ? shape.flop() / kUnseenFlopPerSecond : seen->second * shape.batch;
  const double sample = std::max(call, options_->sample_milliseconds * 1e-3);
  const double sampling = options_->repetitions ? sample * *options_->repetitions
                                                : std::min(options_->budget_seconds, sample * options_->max_samples);
  // Every output is filled, read back and looked at four times, at a few gigabytes a second.
  const double checking = 4 * shape.output_bytes() / 2e9;
  return kStartSeconds + checking + std::max(sampling + 3 * call, kFewestCalls * call);
}

}  // namespace convladder
