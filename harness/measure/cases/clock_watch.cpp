#include "harness/measure/cases/clock_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace convladder {
namespace {

constexpr const char* kLowClock = "low clock";  // where the device gives no reason

}  // namespace

/// The name of the reason that held the clock down for more than its share of the sample; none if no reason did.
std::optional<std::string> ClockWatch::longest_reason(const ClockOfSample& sample) const {
  const auto longest = std::ranges::max_element(sample.held_ns, {}, [](const auto& reason) { return reason.second; });
  if (longest == sample.held_ns.end() || !(longest->second > kMostHeld * sample.ns)) return std::nullopt;
  return longest->first;
}

void ClockWatch::remember(const std::string& reason) {
  if (std::ranges::find(reasons_, reason) == reasons_.end()) reasons_.push_back(reason);
}

std::string ClockWatch::why_spoiled(const ClockOfSample& sample) {
  if (taken_again_ >= kMostTakenAgain) {
    level_mhz_ = 0;
    return {};
  }
  const std::optional<std::string> reason = longest_reason(sample);
  const bool is_low = sample.clock_mhz && *sample.clock_mhz < least_mhz();
  const bool is_up = sample.clock_mhz ? *sample.clock_mhz * kSameLevel > level_mhz_ : !reason;
  if (is_up) is_held_ = false;
  if (!is_low && (!reason || is_held_)) {
    in_a_row_ = 0;
    level_mhz_ = std::max(level_mhz_, sample.clock_mhz.value_or(0));
    return {};
  }
  remember(reason.value_or(kLowClock));
  if (++in_a_row_ > kMostInARow) {
    is_held_ = true;
    in_a_row_ = 0;
    level_mhz_ = sample.clock_mhz.value_or(0);
    return {};
  }
  ++taken_again_;
  if (!is_low) return fmt::format("{} for {:.0f}% of the time", *reason, 100 * sample.held_ns.at(*reason) / sample.ns);
  return fmt::format("{:.0f} MHz, after {:.0f}{}", *sample.clock_mhz, level_mhz_, reason ? ", " + *reason : "");
}

bool WaitWatch::is_spoiled(const ObservedAnswer& answer, double seconds) {
  const bool was_kept_waiting = answer.waited_by_all_ns > kMostWaiting * answer.ns;
  if (!was_kept_waiting || seconds > seconds_left_ || in_a_row_ >= kMostInARow) {
    in_a_row_ = 0;
    return false;
  }
  ++in_a_row_;
  ++taken_again_;
  seconds_left_ -= seconds;
  return true;
}

}  // namespace convladder
