// Figures as people read them.
#pragma once

#include <fmt/format.h>

#include <string>

namespace convladder {

/// Nanoseconds with three significant digits in the unit that suits: "847 ns", "12.3 µs", "4.56 ms", "1.23 s".
inline std::string time_text(double nanoseconds) {
  const auto digits = [](double value) { return value < 9.995 ? 2 : value < 99.95 ? 1 : 0; };
  for (const auto& [unit, size] : {std::pair{"ns", 1.0}, {"µs", 1e3}, {"ms", 1e6}}) {
    const double value = nanoseconds / size;
    if (value < 999.5) return fmt::format("{:.{}f} {}", value, digits(value), unit);
  }
  return fmt::format("{:.{}f} s", nanoseconds / 1e9, digits(nanoseconds / 1e9));
}

}  // namespace convladder
