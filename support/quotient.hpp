// The number of parts of a given size that cover a whole.
#pragma once

#include <type_traits>

namespace convladder {

/// The smallest whole number that times `divisor` is at least `dividend`, which is not negative.
template <typename Dividend, typename Divisor>
constexpr std::common_type_t<Dividend, Divisor> rounded_up_quotient(Dividend dividend, Divisor divisor) {
  return (dividend + divisor - 1) / divisor;
}

}  // namespace convladder
