#include "harness/claimed_times.hpp"

#include <fmt/format.h>

#include "harness/statistics.hpp"
#include "harness/units.hpp"

namespace convladder {
namespace {

constexpr double kMostOverClaim = 1.3;
constexpr double kMostOverheadNs = 1e6;
constexpr double kClockTolerance = 1.01;  // both clocks are one, read at different moments

}  // namespace

void ClaimedTimes::add(double claimed_ns, double observed_ns, bool all_is_timed, double other_ns) {
  if (!(observed_ns > 0)) return;
  most_ns_.push_back(kMostOverClaim * (claimed_ns + other_ns) + kMostOverheadNs);
  claimed_ns_.push_back(claimed_ns);
  observed_ns_.push_back(observed_ns);
  all_is_timed_ = all_is_timed_ && all_is_timed;
}

std::string ClaimedTimes::mismatch() const {
  if (claimed_ns_.empty()) return {};
  const double claimed = median(claimed_ns_);
  const double observed = median(observed_ns_);
  const bool too_little = all_is_timed_ && !(observed <= median(most_ns_));
  if (!too_little && claimed <= observed * kClockTolerance) return {};
  return fmt::format("it claims that its timed calls took {}, by the clock of the one who asked it was {} (medians of {})",
                     time_text(claimed), time_text(observed), claimed_ns_.size());
}

}  // namespace convladder
