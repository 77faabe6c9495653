#include "harness/machine/quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "harness/statistics/statistics.hpp"
#include "support/json_null.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// From where on something makes a case noisy, and from where on disturbed.
struct Limits {
  double noisy;
  double disturbed;
};

// In cores, not in shares: a kernel on all cores waits for the slowest of its threads, however many there are. A
// desktop or a monitor at rest stays below the first.
constexpr Limits kCoresMissing{0.25, 0.75};
// A percent of it is a percent of time at least; a hypervisor's own work stays below the first.
constexpr Limits kSteal{0.02, 0.10};
// Clocks that settle move samples by some percent.
constexpr Limits kDrift{0.10, 0.30};
// Half the interval over the median. What `convladder compare` looks for is smaller.
constexpr Limits kHalfWidth{0.05, 0.20};
// One call each: a call that met an interrupt is 1.5 times slower on a quiet machine too.
constexpr Limits kAnchorSpread{1.5, 2.5};

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

/// The limits of a device, an empty list where there are none.
ordered_json limits_of(const ordered_json& ceilings, std::string_view device) {
  const auto found =
      std::ranges::find_if(ceilings, [&](const ordered_json& one) { return one.at("device") == device; });
  return found == ceilings.end() ? ordered_json::array() : found->at("limits");
}

std::string others_text(double used, int cores) { return fmt::format("others used {:.1f} of {} cores", used, cores); }

bool is_marked(const ordered_json& one_case) {
  return one_case.contains("quality") && one_case.at("quality").is_object() &&
         one_case.at("quality").at("mark") != quality_name(QualityMark::good);
}

}  // namespace

std::string_view quality_name(QualityMark mark) {
  constexpr std::array<std::string_view, 3> names{"good", "noisy", "disturbed"};
  return names.at(static_cast<std::size_t>(mark));
}

std::string_view quality_sign(std::string_view name) {
  if (name == quality_name(QualityMark::noisy)) return "~";
  return name == quality_name(QualityMark::disturbed) ? "!" : "";
}

std::size_t anchor_samples(const ordered_json& ceilings, std::string_view device) {
  const ordered_json limits = limits_of(ceilings, device);
  return limits.empty() ? 0 : limits.at(0).at("samples").size();
}

std::optional<AnchorSpread> anchor_spread(const ordered_json& ceilings, std::string_view device, std::size_t first) {
  std::optional<AnchorSpread> worst;
  for (const ordered_json& limit : limits_of(ceilings, device)) {
    const auto samples = limit.at("samples").get<std::vector<double>>();
    if (samples.size() < 2 || first >= samples.size()) continue;
    const double lowest = std::ranges::min(std::span(samples).subspan(first));
    const double ratio = std::ranges::max(samples) / lowest;
    if (!std::isfinite(ratio)) continue;
    if (!worst || ratio > worst->ratio) worst = AnchorSpread{limit.at("name").get<std::string>(), ratio};
  }
  return worst;
}

std::optional<double> drift_of(const std::vector<double>& samples) {
  if (samples.size() < kFewestForDrift) return std::nullopt;
  const std::size_t half = samples.size() / 2;
  const std::span<const double> all(samples);
  return median(all.last(half)) / median(all.first(half)) - 1;
}

Quality judge_quality(const SeenOfCase& seen) {
  std::vector<std::pair<QualityMark, std::string>> found;
  if (seen.load) {
    const double idle = std::max(0, seen.load->cores - seen.threads);
    found.emplace_back(mark_of(seen.load->used - idle, kCoresMissing), others_text(seen.load->used, seen.load->cores));
    found.emplace_back(mark_of(seen.load->steal, kSteal), fmt::format("steal {:.0f}%", seen.load->steal * 100));
  }
  if (const auto drift = drift_of(seen.samples)) {
    // Of the ratio, so that a fall to a third weighs as much as a rise to three times.
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
  std::ranges::stable_sort(found, std::ranges::greater(), &std::pair<QualityMark, std::string>::first);
  Quality quality;
  for (const auto& [mark, reason] : found) {
    if (mark == QualityMark::good) break;
    quality.mark = std::max(quality.mark, mark);
    quality.reasons.push_back(reason);
  }
  return quality;
}

ordered_json quality_json(const SeenOfCase& seen) {
  const Quality quality = judge_quality(seen);
  return {{"mark", quality_name(quality.mark)},
          {"reasons", quality.reasons},
          {"load_of_others", seen.load ? ordered_json(seen.load->used / seen.load->cores) : ordered_json()},
          {"steal", seen.load ? ordered_json(seen.load->steal) : ordered_json()},
          {"drift", or_null(drift_of(seen.samples))},
          {"anchor_spread", seen.anchors ? ordered_json(seen.anchors->ratio) : ordered_json()}};
}

std::string quality_line(const ordered_json& cases, int cores) {
  int timed = 0;
  int marked = 0;
  double most = 0;
  const ordered_json* worst = nullptr;
  for (const ordered_json& one : cases) {
    if (one.value("time", ordered_json()).is_null()) continue;
    ++timed;
    if (!is_marked(one)) continue;
    ++marked;
    const ordered_json& quality = one.at("quality");
    const ordered_json& load = quality.at("load_of_others");
    if (load.is_number()) most = std::max(most, load.get<double>() * cores);
    const bool is_worse = worst == nullptr || (worst->at("mark") != "disturbed" && quality.at("mark") == "disturbed");
    if (is_worse) worst = &quality;
  }
  if (marked == 0) return {};
  const bool busy = most >= kCoresMissing.noisy;
  const std::string why = busy ? fmt::format("others used up to {:.1f} of {} cores", most, cores)
                               : worst->at("reasons").at(0).get<std::string>();
  return fmt::format(
      "{} of {} cases were measured while the machine was {} ({}): their times do not show what it can do; run.json "
      "says which",
      marked, timed, busy ? "busy" : "not steady", why);
}

}  // namespace convladder
