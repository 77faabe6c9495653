#include "harness/measure/cases/contenders.hpp"

#include <algorithm>

#include "harness/measure/cases/time_of.hpp"
#include "harness/measure/statistics/statistics.hpp"

namespace convladder {
namespace {

/// A case that is this many times slower in all of its samples would not be the best one in any other run either.
constexpr double kSurelySlower = 1.15;

/// The samples of the hot layer time, from the problem's layout to the problem's layout; null if the case has none yet.
const TimeSeries* layer_series(const Measurement& one) {
  const auto found = std::ranges::find_if(
      one.outcome().times, [](const TimeSeries& series) { return series.of == time_of::kLayer && series.is_hot(); });
  return found == one.outcome().times.end() || found->samples.size() < kFirstLook ? nullptr : &*found;
}

}  // namespace

std::string why_beaten(const Measurement& one, const std::deque<Measurement>& all) {
  const TimeSeries* const own = layer_series(one);
  if (!one.planned().contends || own == nullptr) return {};
  const bool carries_another = std::ranges::any_of(all, [&](const Measurement& other) {
    return other.planned().contends && other.outcome().status == Status::ok &&
           other.planned().variant.info.builds_on == one.planned().variant.info.name;
  });
  if (carries_another) return {};
  const double tolerance = one.planned().variant.variant->tolerance();
  const double shortest = std::ranges::min(own->samples);
  const bool is_beaten = std::ranges::any_of(all, [&](const Measurement& other) {
    if (!other.planned().contends || other.planned().variant.variant->tolerance() > tolerance) return false;
    const TimeSeries* const time = layer_series(other);
    return time != nullptr && shortest > kSurelySlower * median(time->samples);
  });
  return is_beaten ? "at a first look slower than another of the later stages; --all measures it" : "";
}

}  // namespace convladder
