// The transposition of a square of floats in registers, which turns images one after another into images side by side.
#pragma once

#include <algorithm>
#include <utility>

#include "variants/convolution/cpu/cache_lines.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {
namespace detail {

/// Exchanges lanes between two rows whose numbers differ only in the bit `kStep`: `low` keeps its lanes without that
/// bit, and gets those of `high` without it beside them.
template <int kStep, typename V, int... kLanes>
[[gnu::always_inline]] inline void exchange_lanes(V& low, V& high, std::integer_sequence<int, kLanes...> /*lanes*/) {
  constexpr int kCount = sizeof...(kLanes);
  const V old_low = low;
  low = __builtin_shufflevector(old_low, high, ((kLanes & kStep) == 0 ? kLanes : kCount + kLanes - kStep)...);
  high = __builtin_shufflevector(old_low, high, ((kLanes & kStep) == 0 ? kLanes + kStep : kCount + kLanes)...);
}

template <typename Set, int kStep>
[[gnu::always_inline]] inline void transpose_from(Vector<Set> (&rows)[Set::lanes]) {
#pragma GCC unroll 16
  for (int row = 0; row < Set::lanes; ++row) {
    if ((row & kStep) == 0) {
      exchange_lanes<kStep>(rows[row], rows[row + kStep], std::make_integer_sequence<int, Set::lanes>{});
    }
  }
  if constexpr (kStep > 1) transpose_from<Set, kStep / 2>(rows);
}

}  // namespace detail

/// rows[i][j] <-> rows[j][i], for as many rows as lanes: handles one bit of the row's and the lane's number after the
/// other.
template <typename Set>
[[gnu::always_inline]] inline void transpose(Vector<Set> (&rows)[Set::lanes]) {
  detail::transpose_from<Set, Set::lanes / 2>(rows);
}

/// Writes runs of floats that lie apart in memory side by side: float i of run `lane` goes to lane `lane` of the vector
/// at place(i). Each of the runs has `count` floats.
template <typename Set, typename Place>
[[gnu::always_inline]] inline void interleave(const float* const (&runs)[Set::lanes], int count, const Place& place) {
  if (count < Set::lanes) {
    for (int i = 0; i < count; ++i) {
      for (int lane = 0; lane < Set::lanes; ++lane) place(i)[lane] = runs[lane][i];
    }
    return;
  }
  for (int next = 0; next < count; next += Set::lanes) {
    const int first = next < count - Set::lanes ? next : count - Set::lanes;  // the last vectors again
    Vector<Set> rows[Set::lanes];
#pragma GCC unroll 16
    for (int lane = 0; lane < Set::lanes; ++lane) load_vector(rows[lane], runs[lane] + first);
    transpose<Set>(rows);
#pragma GCC unroll 16
    for (int i = 0; i < Set::lanes; ++i) store_vector(place(first + i), rows[i]);
  }
}

namespace detail {

/// Transposes the vectors from `first` on, as many as there are lanes; from `count` on there are none.
template <typename Set>
[[gnu::always_inline]] inline void load_transposed(Vector<Set> (&rows)[Set::lanes], const float* vectors, int count,
                                                   int first) {
#pragma GCC unroll 16
  for (int i = 0; i < Set::lanes; ++i) {
    const int vector = first + i < count ? first + i : first;
    load_vector(rows[i], vectors + std::ptrdiff_t{vector} * Set::lanes);
  }
  transpose<Set>(rows);
}

}  // namespace detail

/// Splits vectors into runs that lie apart: float i of run `lane` comes from lane `lane` of the i-th of `count`
/// vectors. Run `lane` gets lengths[lane] floats, `count` at most; its pointer may be null if lengths[lane] is 0.
template <typename Set>
[[gnu::always_inline]] inline void deinterleave(const float* vectors, int count, float* const (&runs)[Set::lanes],
                                                const int (&lengths)[Set::lanes]) {
  for (int next = 0; next < count; next += Set::lanes) {
    const int first = next < count - Set::lanes || count < Set::lanes ? next : count - Set::lanes;
    Vector<Set> rows[Set::lanes];
    detail::load_transposed<Set>(rows, vectors, count, first);
    bool whole = true;
    for (int lane = 0; lane < Set::lanes; ++lane) whole = whole && lengths[lane] >= first + Set::lanes;
    if (whole) {
#pragma GCC unroll 16
      for (int lane = 0; lane < Set::lanes; ++lane) store_vector(runs[lane] + first, rows[lane]);
      continue;
    }
#pragma GCC unroll 16
    for (int lane = 0; lane < Set::lanes; ++lane) {
      const int left = lengths[lane] - first;
      if (left >= Set::lanes) {
        store_vector(runs[lane] + first, rows[lane]);
      } else if (left > 0) {
        alignas(64) float values[Set::lanes];
        store_vector(values, rows[lane]);
        std::copy_n(values, left, runs[lane] + first);
      }
    }
  }
}

/// Splits vectors into runs that lie apart, with stores that bypass the caches. All runs have `count` floats and begin
/// at the same place in a line, of which a vector fills one; the lines at both ends, which do not belong to the run
/// alone, go through the caches.
template <typename Set>
[[gnu::always_inline]] inline void deinterleave_streaming(const float* vectors, int count,
                                                          float* const (&runs)[Set::lanes]) {
  const int head = std::min(count, static_cast<int>(floats_to_line(runs[0])));
  const int end = head + (count - head) / Set::lanes * Set::lanes;
  float* parts[Set::lanes];
  int lengths[Set::lanes];
  for (const auto& [first, last] : {std::pair{0, head}, std::pair{end, count}}) {
    std::fill(lengths, lengths + Set::lanes, last - first);
    for (int lane = 0; lane < Set::lanes; ++lane) parts[lane] = runs[lane] + first;
    deinterleave<Set>(vectors + std::ptrdiff_t{first} * Set::lanes, last - first, parts, lengths);
  }
  for (int first = head; first < end; first += Set::lanes) {
    Vector<Set> rows[Set::lanes];
    detail::load_transposed<Set>(rows, vectors, count, first);
#pragma GCC unroll 16
    for (int lane = 0; lane < Set::lanes; ++lane) stream_vector(runs[lane] + first, rows[lane]);
  }
}

}  // namespace convladder
