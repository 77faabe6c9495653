#include "harness/measure/isolation/claimed_times.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/measure/statistics/statistics.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr double kMostOverClaim = 1.3;
constexpr double kLeastOverheadNs = 1e6;  // in the least disturbed answer, a message there and back included
constexpr double kUsualOverheadNs = 4e6;  // in answers on a busy machine, where a process waits its turn
constexpr double kTurnsOfOthersNs = 25e6;
constexpr double kClockTolerance = 1.01;  // both clocks are one, read at different moments

}  // namespace

void ClaimedTimes::add(double claimed_ns, const ObservedAnswer& observed, bool all_is_timed, double other_ns) {
  if (!(observed.ns > 0)) return;
  const double may_take_ns = kMostOverClaim * (claimed_ns + other_ns);
  claimed_ns_.push_back(claimed_ns);
  observed_ns_.push_back(observed.ns);
  unexplained_ns_.push_back(observed.own_ns(may_take_ns, kUsualOverheadNs) - may_take_ns);
  all_is_timed_ = all_is_timed_ && all_is_timed;
}

std::string ClaimedTimes::mismatch() const {
  if (claimed_ns_.empty()) return {};
  const double claimed = median(claimed_ns_);
  const double observed = median(observed_ns_);
  const double least_overhead_ns = is_beside_others_ ? kTurnsOfOthersNs : kLeastOverheadNs;
  const double usual_overhead_ns = is_beside_others_ ? kTurnsOfOthersNs : kUsualOverheadNs;
  const bool explained =
      std::ranges::min(unexplained_ns_) <= least_overhead_ns && median(unexplained_ns_) <= usual_overhead_ns;
  if ((explained || !all_is_timed_) && claimed <= observed * kClockTolerance) return {};
  return fmt::format("it claims that its timed calls took {}, but by the harness's clock they took {} (medians of {})",
                     time_text(claimed), time_text(observed), claimed_ns_.size());
}

}  // namespace convladder
