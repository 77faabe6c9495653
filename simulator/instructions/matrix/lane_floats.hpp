// A float for each lane, in the widest registers of the host where it has AVX-512, otherwise in loops: the
// operations that matrix products need. A quad is four lanes, 4g to 4g + 3; in fragments of mma they share a row or a
// column.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "simulator/state/operation.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace convladder::simulated {

struct LaneFloats {
#ifdef __AVX512F__
  __m512 low;
  __m512 high;
#else
  std::array<float, kLanes> of;
#endif
};

#ifdef __AVX512F__

inline LaneFloats load_floats(const std::uint32_t* words) {
  return {_mm512_loadu_ps(words), _mm512_loadu_ps(words + 16)};
}
/// Stores the floats, with NaN as the canonical NaN.
inline void store_floats(std::uint32_t* words, LaneMask mask, const LaneFloats& values) {
  const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fffffff));
  const auto store = [&](int lane, __m512 value) {
    const __mmask16 is_nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    _mm512_mask_storeu_ps(words + lane, __mmask16(mask >> lane), _mm512_mask_mov_ps(value, is_nan, nan));
  };
  store(0, values.low);
  store(16, values.high);
}
inline LaneFloats multiply_add(const LaneFloats& a, const LaneFloats& b, const LaneFloats& sum) {
  return {_mm512_fmadd_ps(a.low, b.low, sum.low), _mm512_fmadd_ps(a.high, b.high, sum.high)};
}
/// Every lane gets the value of lane kLane of its quad.
template <int kLane>
LaneFloats spread_in_quads(const LaneFloats& values) {
  constexpr int kAll = kLane * 0b01010101;
  constexpr __mmask16 kLanesOfHalf = 0xffff;  // see gather_fours in lane_rows.hpp
  return {_mm512_maskz_permute_ps(kLanesOfHalf, values.low, kAll),
          _mm512_maskz_permute_ps(kLanesOfHalf, values.high, kAll)};
}
/// Lane t of every quad gets the value of lane kLane of quad 2t + kOdd.
template <int kLane, int kOdd>
LaneFloats spread_quads(const LaneFloats& values) {
  constexpr int kFirst = 4 * kOdd + kLane;
  const __m512i from = _mm512_setr4_epi32(kFirst, kFirst + 8, kFirst + 16, kFirst + 24);
  const __m512 spread = _mm512_permutex2var_ps(values.low, from, values.high);
  return {spread, spread};
}

#else

inline LaneFloats load_floats(const std::uint32_t* words) {
  LaneFloats values;
  for (int lane = 0; lane < kLanes; ++lane) values.of[lane] = std::bit_cast<float>(words[lane]);
  return values;
}
inline void store_floats(std::uint32_t* words, LaneMask mask, const LaneFloats& values) {
  write_lanes(words, mask, [&values](int lane) {
    const float value = values.of[lane];
    return value != value ? 0x7fffffffU : std::bit_cast<std::uint32_t>(value);
  });
}
inline LaneFloats multiply_add(const LaneFloats& a, const LaneFloats& b, const LaneFloats& sum) {
  LaneFloats result;
  for (int lane = 0; lane < kLanes; ++lane) result.of[lane] = std::fma(a.of[lane], b.of[lane], sum.of[lane]);
  return result;
}
template <int kLane>
LaneFloats spread_in_quads(const LaneFloats& values) {
  LaneFloats result;
  for (int lane = 0; lane < kLanes; ++lane) result.of[lane] = values.of[(lane & ~3) + kLane];
  return result;
}
template <int kLane, int kOdd>
LaneFloats spread_quads(const LaneFloats& values) {
  LaneFloats result;
  for (int lane = 0; lane < kLanes; ++lane) result.of[lane] = values.of[8 * (lane % 4) + 4 * kOdd + kLane];
  return result;
}

#endif

}  // namespace convladder::simulated
