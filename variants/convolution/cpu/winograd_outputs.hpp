// How the sums of the ways of both dimensions make two by two outputs (winograd_terms.hpp).
#pragma once

#include <cstddef>

#include "variants/convolution/cpu/winograd_terms.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {
namespace detail {

/// Makes two outputs from the sums of the four ways of one dimension. load(to, way) loads one of the sums.
template <typename Set, bool kOpposite, typename Load>
[[gnu::always_inline]] inline void two_outputs(Vector<Set>& first, Vector<Set>& second, const Load& load) {
  Vector<Set> both;
  load(first, static_cast<int>(OutputWay::first));
  load(second, static_cast<int>(OutputWay::second));
  load(both, static_cast<int>(OutputWay::both));
  first += both;
  second += both;
  if constexpr (kOpposite) {
    Vector<Set> opposite;
    load(opposite, static_cast<int>(OutputWay::opposite));
    first += opposite;
    second -= opposite;
  }
}

}  // namespace detail

/// Computes the first `rows` and `columns` of two by two outputs. The sums of the ways lie `way_pitch` floats apart,
/// those of a row's ways one after the other; `kOpposite` says whether there are sums of that way. Rows of outputs lie
/// `row_pitch` floats apart, neighbours in a row one vector apart.
template <typename Set, bool kOpposite>
[[gnu::always_inline]] inline void add_up_ways(const float* from, std::ptrdiff_t way_pitch, int rows, int columns,
                                               float* to, std::ptrdiff_t row_pitch) {
  Vector<Set> sums_of_columns[kOutputWays][2];
#pragma GCC unroll 4
  for (int way = 0; way < kOutputWays; ++way) {
    if (!kOpposite && way == static_cast<int>(OutputWay::opposite)) continue;
    detail::two_outputs<Set, kOpposite>(sums_of_columns[way][0], sums_of_columns[way][1],
                                        [&](Vector<Set>& sum, int column_way) {
                                          load_vector(sum, from + (way * kOutputWays + column_way) * way_pitch);
                                        });
  }
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j) {
    if (j >= columns) break;
    Vector<Set> upper;
    Vector<Set> lower;
    detail::two_outputs<Set, kOpposite>(upper, lower,
                                        [&](Vector<Set>& value, int way) { value = sums_of_columns[way][j]; });
    store_vector(to + j * Set::lanes, upper);
    if (rows > 1) store_vector(to + row_pitch + j * Set::lanes, lower);
  }
}

}  // namespace convladder
