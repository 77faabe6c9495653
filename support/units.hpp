// Formats figures for people.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace convladder {

/// Three significant digits, or all digits before the point if there are more: "1.23", "12.3", "123", "1234".
inline std::string short_number(double value) {
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

/// Nanoseconds with three significant digits in the most suitable unit: "847 ns", "12.3 µs", "4.56 ms", "1.23 s".
inline std::string time_text(double nanoseconds) {
  for (const auto& [unit, size] : {std::pair{"ns", 1.0}, {"µs", 1e3}, {"ms", 1e6}}) {
    const double value = nanoseconds / size;
    if (value < 999.5) return fmt::format("{} {}", short_number(value), unit);
  }
  return fmt::format("{} s", short_number(nanoseconds / 1e9));
}

/// Bytes in the usual units of memory: "4.2 GB", "150 MB".
inline std::string memory_text(double bytes) {
  return bytes < 0.95e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

/// A duration, "1h02m", "3m05s", "42s": rounded up, so that remaining time is never "0s".
inline std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole >= 3600) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}s", whole);
}

}  // namespace convladder
