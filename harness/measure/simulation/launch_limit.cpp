#include "harness/measure/simulation/launch_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include "support/errors.hpp"
#include "support/interruption.hpp"
#include "support/progress.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr double kUsualSeconds = 600;
constexpr std::uint64_t kUsualOperationsWithoutChange = 5'000'000'000;
constexpr double kQuietSeconds = 2;  // before progress is shown

constexpr double kMostLimitSeconds = 1e9;
constexpr double kMostLimitOperations = 1e18;

struct LimitUnit {
  std::string_view name;
  double size;
  bool is_time;
};
constexpr std::array<LimitUnit, 13> kLimitUnits = {{{"", 1, false},
                                                    {"k", 1e3, false},
                                                    {"M", 1e6, false},
                                                    {"G", 1e9, false},
                                                    {"T", 1e12, false},
                                                    {"K", 1e3, false},
                                                    {"g", 1e9, false},
                                                    {"t", 1e12, false},
                                                    {"ms", 1e-3, true},
                                                    {"s", 1, true},
                                                    {"min", 60, true},
                                                    {"m", 60, true},
                                                    {"h", 3600, true}}};

/// Shows the progress of the launch, and ends it when its time is over.
class TimedLaunch {
 public:
  TimedLaunch(std::string what, std::optional<double> seconds) : what_(std::move(what)), most_seconds_(seconds) {}

  std::string look(const simulated::LaunchProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (!begin_) begin_ = now;
    const double seconds = std::chrono::duration<double>(now - *begin_).count();
    if (interrupt_waits()) {
      return fmt::format("by an interrupt, with {} of {} {} done", progress.blocks_ended, progress.blocks,
                         progress.unit);
    }
    if (most_seconds_ && seconds > *most_seconds_) {
      return fmt::format("after {:g} s, with {} of {} {} done", *most_seconds_, progress.blocks_ended, progress.blocks,
                         progress.unit);
    }
    if (seconds < kQuietSeconds) return "";
    const double done = static_cast<double>(progress.blocks_ended) / static_cast<double>(progress.blocks);
    std::optional<double> left;
    if (progress.blocks_ended > 0) left = seconds / done - seconds;
    shown_.show_part(
        fmt::format("{}: {} of {} {}, {:.1f} G instructions, {}", what_, progress.blocks_ended, progress.blocks,
                    progress.unit, static_cast<double>(progress.operations) / 1e9, duration_text(seconds)),
        done, left);
    return "";
  }

 private:
  std::string what_;
  std::optional<double> most_seconds_;
  WaitingInterrupts interrupts_;
  Progress shown_{stderr, 0};
  std::optional<std::chrono::steady_clock::time_point> begin_;
};

}  // namespace

LimitValues parse_limits(const std::vector<std::string>& values) {
  LimitValues limits;
  if (values.empty()) {
    limits.seconds = kUsualSeconds;
    limits.operations_without_change = kUsualOperationsWithoutChange;
  }
  for (const std::string& value : values) {
    if (value == "none" && values.size() == 1) break;
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(value.data() + value.size() - end));
    const auto known = std::ranges::find(kLimitUnits, unit, &LimitUnit::name);
    if (error != std::errc() || known == kLimitUnits.end() || !(number > 0) || !std::isfinite(number)) {
      throw UserError(fmt::format(
          "--limit {}: expected instructions such as 500M or 10G, a time such as 30s, 5min or 2h, or none", value));
    }
    number *= known->size;
    if (known->is_time) {
      if (limits.seconds) throw UserError(fmt::format("--limit {}: a time is already given", value));
      if (number > kMostLimitSeconds) throw UserError(fmt::format("--limit {}: more than thirty years", value));
      limits.seconds = number;
    } else {
      if (limits.operations > 0) throw UserError(fmt::format("--limit {}: a number is already given", value));
      if (number < 1 || number > kMostLimitOperations) {
        throw UserError(fmt::format("--limit {}: expected 1 to 1000000T instructions", value));
      }
      limits.operations = static_cast<std::uint64_t>(number);
    }
  }
  return limits;
}

simulated::LaunchLimits launch_limits(const std::vector<std::string>& values, const std::string& what) {
  const LimitValues parsed = parse_limits(values);
  simulated::LaunchLimits limits;
  limits.operations = parsed.operations;
  limits.operations_without_change = parsed.operations_without_change;
  limits.watch = [watched = std::make_shared<TimedLaunch>(what, parsed.seconds)](
                     const simulated::LaunchProgress& progress) { return watched->look(progress); };
  return limits;
}

}  // namespace convladder
