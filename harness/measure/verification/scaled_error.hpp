// The error of one element of any type.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "support/element_type.hpp"

namespace convladder {

/// At least half a unit in the last place of the type that a result is rounded to, where float64 has many more.
template <typename T>
double rounding(double value) {
  if constexpr (std::is_same_v<T, Half>) return std::abs(value) * 0x1p-11 + 0x1p-25;
  if constexpr (std::is_same_v<T, Bfloat16>) return std::abs(value) * 0x1p-8;
  return 0;
}

/// |error| / magnitude; 0 where there is no error, also between equal infinities; NaN where `found` is not a number.
template <typename T>
double scaled_error(T found, double value, double magnitude) {
  const double number = to_double(found);
  if (number == value) return 0;
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::is_integral_v<T> || !(magnitude >= 0 && magnitude < wrong)) return std::isnan(number) ? number : wrong;
  const double error = std::abs(number - value) - rounding<T>(value);
  return error <= 0 ? 0 : error / magnitude;
}

template <typename T>
std::string number_text(T element) {
  if constexpr (std::is_integral_v<T>) return fmt::format("{}", +element);
  return fmt::format("{:.{}g}", to_double(element), std::is_same_v<T, double> ? 17 : 9);
}

}  // namespace convladder
