// Formats figures for people.
#pragma once

#include <string>

namespace convladder {

/// Three significant digits, or all digits before the point if there are more: "1.23", "12.3", "123", "1234".
std::string short_number(double value);

/// A whole number, not negative, with its digits in groups: "12,582,912".
std::string grouped_number(double value);

/// Nanoseconds with three significant digits in the most suitable unit: "847 ns", "12.3 µs", "4.56 ms", "1.23 s".
std::string time_text(double nanoseconds);

/// Bytes in the usual units of memory: "4.2 GB", "150 MB".
std::string memory_text(double bytes);

/// A duration, "1h02m", "3m05s", "42s": rounded up, so that remaining time is never "0s".
std::string duration_text(double seconds);

}  // namespace convladder
