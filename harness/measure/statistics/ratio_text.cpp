#include "harness/measure/statistics/ratio_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace convladder {
namespace {

constexpr int kMostDigits = 3;
constexpr int kDigitsUnknown = 2;  // of a value without an interval

int place_of(double value) { return static_cast<int>(std::floor(std::log10(value))); }

/// The value rounded to the decimal place 10^place.
std::string rounded(double value, int place) {
  const double unit = std::pow(10.0, place);
  return place > 0 ? fmt::format("{:.0f}", std::round(value / unit) * unit) : fmt::format("{:.{}f}", value, -place);
}

/// The lowest place of `digits` significant ones.
int lowest_place(double value, int digits) { return place_of(value) - digits + 1; }

bool is_number(double value) { return value > 0 && std::isfinite(value); }

}  // namespace

std::string known_number(const Ratio& ratio) {
  if (!is_number(ratio.value)) return fmt::format("{}", ratio.value);
  const std::optional<double> half = ratio.half_width();
  if (!half) return "~" + rounded(ratio.value, std::min(lowest_place(ratio.value, kDigitsUnknown), 0));
  const double width = std::max(ratio.value - *ratio.low, *ratio.high - ratio.value);
  const int lowest = std::min(lowest_place(ratio.value, kMostDigits), 0);
  const int known = is_number(width) ? place_of(width) : lowest;
  return rounded(ratio.value, std::clamp(known, lowest, std::max(lowest, place_of(ratio.value))));
}

std::string ratio_text(const std::optional<Ratio>& ratio) {
  if (!ratio) return "-";
  return ratio->half_width() && ratio->by != RatioBy::counts && ratio->holds(1) ? "~1" : known_number(*ratio);
}

std::string share_text(const std::optional<Ratio>& percent) {
  if (!percent) return "-";
  return percent->half_width() && percent->holds(100) ? "~100%" : known_number(*percent) + "%";
}

std::string ratio_interval_text(const std::optional<Ratio>& ratio, const std::string& unit) {
  if (!ratio) return "-";
  if (!ratio->half_width() || !is_number(*ratio->low) || !is_number(*ratio->high)) return known_number(*ratio) + unit;
  // Both ends with the digits that tell them apart, and at least two.
  const int place = std::min(
      {lowest_place(*ratio->low, 2), 0, *ratio->high > *ratio->low ? place_of(*ratio->high - *ratio->low) : 0});
  const int shown = std::max(place, std::min(lowest_place(*ratio->low, kMostDigits), 0));
  return fmt::format("{}-{}{}", rounded(*ratio->low, shown), rounded(*ratio->high, shown), unit);
}

std::string bound_text(double bound) {
  const int digits = bound < 1.1 ? 2 : bound < 10 ? 1 : 0;
  const double unit = std::pow(10.0, digits);
  const double down = std::floor(bound * unit + 1e-9) / unit;
  return down > 1 ? fmt::format("{:.{}f}", down, digits) : std::string();
}

}  // namespace convladder
