// When enough samples have been taken. `run`, `fused`, `network` and `sweep` ask one of these rules after each sample.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// The samples of a case so far, and the seconds that it took to take them.
struct SampledSoFar {
  std::span<const double> samples;
  double seconds = 0;
};

class StopRule {
 public:
  StopRule() = default;
  StopRule(const StopRule&) = delete;
  StopRule& operator=(const StopRule&) = delete;
  virtual ~StopRule() = default;
  /// Why to stop, as `stopped_because` of the record; empty to go on.
  virtual std::string_view reason(const SampledSoFar& so_far) const = 0;
};

/// Stops at that many samples. `why` is a string literal.
std::unique_ptr<StopRule> stop_at_number(std::size_t samples, std::string_view why);
/// Stops with "interval" once the half width of the median's interval is at most this fraction of the median. Fewer
/// than six samples have no interval.
std::unique_ptr<StopRule> stop_at_interval(double target_half_width);
/// Stops with "budget" once so many seconds are used up and there are at least `fewest` samples.
std::unique_ptr<StopRule> stop_at_budget(double seconds, std::size_t fewest);
/// Stops with "budget" before a sample that would exceed so many seconds, if it takes as long as those before on
/// average.
std::unique_ptr<StopRule> stop_before_budget(double seconds);
/// Stops as soon as one of these rules does, for the reason of the first that does.
std::unique_ptr<StopRule> stop_at_first(std::vector<std::unique_ptr<StopRule>> rules);

/// The settings of a command: exactly `repetitions` samples, or else interval, `most` samples, or the budget, with at
/// least `fewest` samples.
struct StopSettings {
  std::optional<int> repetitions;
  double target_half_width = 0;
  double budget_seconds = 0;
  std::size_t most = 0;
  std::size_t fewest = 3;
  std::string_view repetitions_word;  ///< the reason in the record
  std::string_view most_word;
};
std::unique_ptr<StopRule> stop_rule(const StopSettings& settings);

}  // namespace convladder
