#include "support/units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace convladder {

std::string short_number(double value) {
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

std::string grouped_number(double value) {
  const std::string digits = fmt::format("{:.0f}", value);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string time_text(double nanoseconds) {
  for (const auto& [unit, size] : {std::pair{"ns", 1.0}, {"µs", 1e3}, {"ms", 1e6}}) {
    const double value = nanoseconds / size;
    if (value < 999.5) return fmt::format("{} {}", short_number(value), unit);
  }
  return fmt::format("{} s", short_number(nanoseconds / 1e9));
}

std::string memory_text(double bytes) {
  return bytes < 0.95e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole >= 3600) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}s", whole);
}

}  // namespace convladder
