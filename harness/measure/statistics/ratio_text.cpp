#include "harness/measure/statistics/ratio_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace convladder {
namespace {

constexpr int kMostDigits = 3;
constexpr double kNearOne = 0.8;
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

/// Two digits of what the value surely exceeds, or surely does not reach.
std::string bound(double value, bool is_below) {
  if (!is_number(value)) return fmt::format("{}", value);
  const int place = lowest_place(value, kDigitsUnknown);
  const double unit = std::pow(10.0, place);
  const double rest = is_below ? std::floor(value / unit + 1e-9) : std::ceil(value / unit - 1e-9);
  return rounded(rest * unit, place);
}

/// Whether it is of a figure and itself, or counted.
bool is_exact(const Ratio& ratio) { return ratio.low && ratio.low == ratio.high; }

/// The value as far as it can be told from `whole`, which is a ratio of 1.
std::string told_text(const Ratio& ratio, double whole, std::string_view unit = "") {
  const bool is_sure = ratio.is_known() || is_exact(ratio) || !ratio.half_width();
  if (ratio.half_width() && !is_exact(ratio) && ratio.holds(whole)) {
    return is_sure ? fmt::format("~{:.0f}{}", whole, unit) : "?";
  }
  if (is_sure) return fmt::format("{}{}", known_number(ratio), unit);
  return ratio.is_above(whole) ? fmt::format(">{}{}", bound(*ratio.low, true), unit)
                               : fmt::format("<{}{}", bound(*ratio.high, false), unit);
}

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

std::string ratio_text(const std::optional<Ratio>& ratio) { return ratio ? told_text(*ratio, 1) : "-"; }

std::string share_text(const std::optional<Ratio>& percent) { return percent ? told_text(*percent, 100, "%") : "-"; }

std::string ratio_interval_text(const std::optional<Ratio>& ratio, const std::string& unit) {
  if (!ratio) return "-";
  if (is_exact(*ratio) || !ratio->half_width() || !is_number(*ratio->low) || !is_number(*ratio->high))
    return known_number(*ratio) + unit;
  // Both ends with the digits that tell them apart, at least two, and one more near 1.
  const int apart = *ratio->high > *ratio->low ? place_of(*ratio->high - *ratio->low) : 0;
  const bool is_near_one = *ratio->low > kNearOne && *ratio->high < 1 / kNearOne;
  const int place = std::min({lowest_place(*ratio->low, 2), apart, is_near_one ? -2 : 0});
  const int shown = std::max(place, std::min(lowest_place(*ratio->low, kMostDigits), 0));
  return fmt::format("{}-{}{}", rounded(*ratio->low, shown), rounded(*ratio->high, shown), unit);
}

std::string ratio_legend(const std::vector<std::vector<std::string>>& rows) {
  bool is_untold = false;
  bool is_unknown = false;
  for (const std::vector<std::string>& row : rows) {
    for (const std::string& cell : row) {
      is_untold = is_untold || cell == "~1" || cell == "~100%";
      is_unknown = is_unknown || cell == "?" || cell.starts_with('<') || cell.starts_with('>');
    }
  }
  const std::string untold = is_untold ? "~1: cannot be told from 1" : "";
  const std::string unknown = is_unknown ? "?, < and >: known no better than to a factor of two" : "";
  return untold + (is_untold && is_unknown ? "; " : "") + unknown;
}

std::string bound_text(double bound) {
  const int digits = bound < 1.1 ? 2 : bound < 10 ? 1 : 0;
  const double unit = std::pow(10.0, digits);
  const double down = std::floor(bound * unit + 1e-9) / unit;
  return down > 1 ? fmt::format("{:.{}f}", down, digits) : std::string();
}

}  // namespace convladder
