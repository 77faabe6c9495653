#include "harness/measure/machine/quality.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "harness/measure/statistics/statistics.hpp"
#include "support/units.hpp"

namespace convladder {

const std::vector<double>* DeviceCeilings::samples(const CeilingLimit& limit) const {
  const auto found = std::ranges::find(limits, limit.name, [](const SampledLimit& one) { return one.limit.name; });
  return found == limits.end() ? nullptr : &found->samples;
}

const DeviceCeilings* find_ceilings_of(const Ceilings& ceilings, std::string_view device) {
  const auto found = std::ranges::find(ceilings, device, &DeviceCeilings::device);
  return found == ceilings.end() ? nullptr : &*found;
}

namespace {

/// The values from which a cause makes a case noisy, and from which it makes it disturbed.
struct Limits {
  double noisy;
  double disturbed;
};

// In cores, not in shares: a kernel on all cores waits for the slowest of its threads, however many there are. A
// desktop or a monitor at rest stays below the first.
constexpr Limits kCoresMissing{0.25, 0.75};
// A percent of steal is a percent of time at least; a hypervisor's own work stays below the first.
constexpr Limits kSteal{0.02, 0.10};
// Clocks that settle move samples by some percent.
constexpr Limits kDrift{0.10, 0.30};
// Half the interval over the median. The changes that `convladder compare` looks for are smaller.
constexpr Limits kHalfWidth{0.05, 0.20};
// For limits of the device, of one call each: a call that met an interrupt is 1.5 times slower on a quiet machine too.
constexpr Limits kAnchorSpread{1.5, 2.5};
// A GPU's highest clock of the run over the case's lowest. Samples of one case differ by less, since others are taken
// again; the remaining difference is a clock that differs from case to case.
constexpr Limits kClockSpread{1.03, 1.2};
// The host's time for enqueuing a call over the call's time. From these shares on the device waits for the host.
constexpr Limits kEnqueueShare{0.8, 0.95};

struct MarkText {
  std::string_view name;
  std::string_view sign;
};
constexpr std::array<MarkText, 3> kMarks{{{"good", ""}, {"noisy", "~"}, {"disturbed", "!"}}};

constexpr std::size_t kFewestForDrift = 8;  // four in each half: one outlier does not decide

QualityMark mark_of(double value, const Limits& limits) {
  if (value >= limits.disturbed) return QualityMark::disturbed;
  return value >= limits.noisy ? QualityMark::noisy : QualityMark::good;
}

std::optional<double> half_width_of(const std::vector<double>& samples) {
  const auto interval = median_interval(samples);
  if (!interval) return std::nullopt;
  return (interval->high - interval->low) / 2 / median(samples);
}

std::string others_text(double used, int cores, std::string_view up_to = "") {
  return fmt::format("others used {}{:.1f} of {} cores", up_to, used, cores);
}

std::pair<QualityMark, std::string> judged_clock(const ClockSeen& clock) {
  const QualityMark spread =
      clock.lowest_mhz > 0 ? mark_of(clock.highest_mhz / clock.lowest_mhz, kClockSpread) : QualityMark::good;
  std::string text = clock.lowest_mhz > 0
                         ? fmt::format("the clock was {:.0f} of {:.0f} MHz", clock.lowest_mhz, clock.highest_mhz)
                         : "the clock was held down";
  if (!clock.reasons.empty()) text += fmt::format(" ({})", fmt::join(clock.reasons, ", "));
  return {clock.is_held ? std::max(spread, QualityMark::noisy) : spread, std::move(text)};
}

}  // namespace

std::string_view quality_name(QualityMark mark) { return kMarks.at(static_cast<std::size_t>(mark)).name; }

std::string_view quality_sign(QualityMark mark) { return kMarks.at(static_cast<std::size_t>(mark)).sign; }

std::optional<QualityMark> quality_from_name(std::string_view name) {
  const auto* const mark = std::ranges::find(kMarks, name, &MarkText::name);
  return mark == kMarks.end() ? std::nullopt : std::optional(static_cast<QualityMark>(mark - kMarks.begin()));
}

std::size_t anchor_samples(const Ceilings& ceilings, std::string_view device) {
  const DeviceCeilings* const its = find_ceilings_of(ceilings, device);
  return its == nullptr || its->limits.empty() ? 0 : its->limits.front().samples.size();
}

std::optional<AnchorSpread> anchor_spread(const Ceilings& ceilings, std::string_view device, std::size_t first) {
  const DeviceCeilings* const its = find_ceilings_of(ceilings, device);
  if (its == nullptr) return std::nullopt;
  std::optional<AnchorSpread> worst;
  for (const SampledLimit& one : its->limits) {
    const std::vector<double>& samples = one.samples;
    if (samples.size() < 2 || first >= samples.size()) continue;
    const double lowest = std::ranges::min(std::span(samples).subspan(first));
    const double ratio = std::ranges::max(samples) / lowest;
    if (!std::isfinite(ratio)) continue;
    if (!worst || ratio > worst->ratio) worst = AnchorSpread{std::string(one.limit.name), ratio};
  }
  return worst;
}

std::optional<double> drift_of(const std::vector<double>& samples) {
  if (samples.size() < kFewestForDrift) return std::nullopt;
  const std::size_t half = samples.size() / 2;
  const std::span<const double> all(samples);
  return median(all.last(half)) / median(all.first(half)) - 1;
}

std::string busy_text(const std::optional<MachineLoad>& load, int threads) {
  if (!load) return {};
  const double idle = std::max(0, load->cores - threads);
  if (load->used - idle >= kCoresMissing.noisy) return others_text(load->used, load->cores);
  return load->steal >= kSteal.noisy ? fmt::format("steal {:.0f}%", load->steal * 100) : "";
}

Quality judge_quality(const SeenOfCase& seen) {
  std::vector<std::pair<QualityMark, std::string>> found;
  if (seen.load) {
    const double idle = std::max(0, seen.load->cores - seen.threads);
    found.emplace_back(mark_of(seen.load->used - idle, kCoresMissing), others_text(seen.load->used, seen.load->cores));
    found.emplace_back(mark_of(seen.load->steal, kSteal), fmt::format("steal {:.0f}%", seen.load->steal * 100));
  }
  if (const auto drift = drift_of(seen.samples)) {
    // By the ratio, so that a fall to a third weighs as much as a rise to three times.
    const double size = std::exp(std::abs(std::log1p(*drift))) - 1;
    found.emplace_back(mark_of(size, kDrift), fmt::format("samples drifted by {:+.0f}%", *drift * 100));
  }
  if (const auto half_width = half_width_of(seen.samples)) {
    found.emplace_back(mark_of(*half_width, kHalfWidth),
                       fmt::format("the median is known only to ±{:.0f}%", *half_width * 100));
  }
  if (seen.anchors) {
    found.emplace_back(mark_of(seen.anchors->ratio, kAnchorSpread),
                       fmt::format("{} scattered by {:.1f}x", seen.anchors->name, seen.anchors->ratio));
  }
  if (seen.clock) found.push_back(judged_clock(*seen.clock));
  if (seen.enqueue_ns > 0) {
    const double call_ns = median(seen.samples);
    found.emplace_back(mark_of(seen.enqueue_ns / call_ns, kEnqueueShare),
                       fmt::format("the host needs {} to launch a call, which may take less than its {}",
                                   time_text(seen.enqueue_ns), time_text(call_ns)));
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &std::pair<QualityMark, std::string>::first);
  Quality quality;
  if (seen.load) {
    quality.load_of_others = seen.load->used / seen.load->cores;
    quality.steal = seen.load->steal;
  }
  quality.drift = drift_of(seen.samples);
  if (seen.anchors) quality.anchor_spread = seen.anchors->ratio;
  for (const auto& [mark, reason] : found) {
    if (mark == QualityMark::good) break;
    quality.mark = std::max(quality.mark, mark);
    quality.reasons.push_back(reason);
  }
  return quality;
}

std::string quality_line(const std::vector<Quality>& timed, int cores, std::string_view file) {
  const auto marked = std::ranges::count_if(timed, &Quality::is_marked);
  if (marked == 0) return {};
  double most = 0;
  for (const Quality& one : timed) {
    if (one.is_marked()) most = std::max(most, one.load_of_others.value_or(0) * cores);
  }
  const bool busy = most >= kCoresMissing.noisy;
  const std::string why =
      busy ? others_text(most, cores, "up to ") : std::ranges::max_element(timed, {}, &Quality::mark)->reasons.front();
  return fmt::format("{} of {} cases were measured while the machine was {} ({}); {} says which", marked, timed.size(),
                     busy ? "busy" : "not steady", why, file);
}

}  // namespace convladder
