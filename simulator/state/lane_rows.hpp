// Words of 32 lanes, moved between registers and memory: in the widest registers of the host where it has AVX-512,
// otherwise in loops, which define the meaning. GCC makes neither masked loads nor a comparison's mask of such loops.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "simulator/state/operation.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace convladder::simulated {

using LaneOffsets = std::array<std::int32_t, kLanes>;  // in bytes; aligned to 64 bytes

inline std::uint32_t word_at(const std::byte* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

#ifdef __AVX512F__

/// The lanes whose address is not `first` plus their offset.
inline LaneMask lanes_elsewhere(const std::uint32_t* addresses, std::uint32_t first, const LaneOffsets& offsets) {
  const auto half = [&](int lane) -> LaneMask {
    const __m512i found = _mm512_sub_epi32(_mm512_loadu_si512(addresses + lane), _mm512_set1_epi32(int(first)));
    return _mm512_cmpneq_epi32_mask(found, _mm512_load_si512(&offsets[lane]));
  };
  return half(0) | half(16) << 16;
}
inline LaneMask lanes_elsewhere(const std::uint64_t* addresses, std::uint64_t first, const LaneOffsets& offsets) {
  const auto quarter = [&](int lane) -> LaneMask {
    const __m512i found = _mm512_sub_epi64(_mm512_loadu_si512(addresses + lane), _mm512_set1_epi64((long long)first));
    const __m256i offset = _mm256_load_si256(reinterpret_cast<const __m256i*>(&offsets[lane]));
    return _mm512_cmpneq_epi64_mask(found, _mm512_maskz_cvtepi32_epi64(0xff, offset));
  };
  return quarter(0) | quarter(8) << 8 | quarter(16) << 16 | quarter(24) << 24;
}

/// Loads words of lanes that are contiguous, with lane 0's at `row`. Other lanes' words are not touched.
inline void load_lanes(std::uint32_t* words, LaneMask lanes, const std::byte* row) {
  for (int lane = 0; lane < kLanes; lane += 16) {
    const __m512i before = _mm512_loadu_si512(words + lane);
    _mm512_storeu_si512(words + lane, _mm512_mask_loadu_epi32(before, __mmask16(lanes >> lane), row + 4 * lane));
  }
}
/// Loads words of two groups of lanes, each of which is contiguous.
inline void load_lanes(std::uint32_t* words, LaneMask lanes, const std::byte* row, LaneMask others,
                       const std::byte* other_row) {
  for (int lane = 0; lane < kLanes; lane += 16) {
    __m512i now = _mm512_loadu_si512(words + lane);
    now = _mm512_mask_loadu_epi32(now, __mmask16(lanes >> lane), row + 4 * lane);
    now = _mm512_mask_loadu_epi32(now, __mmask16(others >> lane), other_row + 4 * lane);
    _mm512_storeu_si512(words + lane, now);
  }
}
inline void store_lanes(const std::uint32_t* words, LaneMask lanes, std::byte* row) {
  for (int lane = 0; lane < kLanes; lane += 16) {
    _mm512_mask_storeu_epi32(row + 4 * lane, __mmask16(lanes >> lane), _mm512_loadu_si512(words + lane));
  }
}

/// Loads words of lanes at any places.
inline void gather_lanes(std::uint32_t* words, LaneMask lanes, const std::byte* at, const LaneOffsets& offsets) {
  for (int lane = 0; lane < kLanes; lane += 16) {
    const __m512i before = _mm512_loadu_si512(words + lane);
    const __m512i offset = _mm512_load_si512(&offsets[lane]);
    const __m512i now = _mm512_mask_i32gather_epi32(before, __mmask16(lanes >> lane), offset, at, 1);
    _mm512_storeu_si512(words + lane, now);
  }
}

/// Loads four consecutive words for each lane: the first words of all lanes go to words[0]. Lanes that take no part
/// must have a valid offset, too.
inline void gather_fours(const std::array<std::uint32_t*, 4>& words, LaneMask lanes, const std::byte* at,
                         const LaneOffsets& offsets) {
  const auto four = [&](int lane) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + offsets[lane])); };
  for (int lane = 0; lane < kLanes; lane += 16) {
    // Lanes i, i + 4, i + 8 and i + 12 in one register: then each quarter of four registers is transposed.
    const auto every_fourth = [&](int i) {
      __m512i result = _mm512_zextsi128_si512(four(lane + i));
      result = _mm512_inserti32x4(result, four(lane + i + 4), 1);
      result = _mm512_inserti32x4(result, four(lane + i + 8), 2);
      return _mm512_inserti32x4(result, four(lane + i + 12), 3);
    };
    const __m512i rows[] = {every_fourth(0), every_fourth(1), every_fourth(2), every_fourth(3)};
    // The variants with a mask of zeros, none of which is used: GCC warns of undefined registers in the others.
    constexpr __mmask16 kWords = 0xffff;
    constexpr __mmask8 kPairs = 0xff;
    const __m512i low[] = {_mm512_maskz_unpacklo_epi32(kWords, rows[0], rows[1]),
                           _mm512_maskz_unpacklo_epi32(kWords, rows[2], rows[3])};
    const __m512i high[] = {_mm512_maskz_unpackhi_epi32(kWords, rows[0], rows[1]),
                            _mm512_maskz_unpackhi_epi32(kWords, rows[2], rows[3])};
    const auto store = [&](int element, __m512i now) {
      std::uint32_t* const to = words[element] + lane;
      _mm512_storeu_si512(to, _mm512_mask_mov_epi32(_mm512_loadu_si512(to), __mmask16(lanes >> lane), now));
    };
    store(0, _mm512_maskz_unpacklo_epi64(kPairs, low[0], low[1]));
    store(1, _mm512_maskz_unpackhi_epi64(kPairs, low[0], low[1]));
    store(2, _mm512_maskz_unpacklo_epi64(kPairs, high[0], high[1]));
    store(3, _mm512_maskz_unpackhi_epi64(kPairs, high[0], high[1]));
  }
}

#else

template <typename Address>
LaneMask lanes_elsewhere(const Address* addresses, Address first, const LaneOffsets& offsets) {
  LaneMask elsewhere = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto offset = static_cast<Address>(std::int64_t{offsets[lane]});
    elsewhere |= LaneMask{static_cast<Address>(addresses[lane] - first) != offset} << lane;
  }
  return elsewhere;
}

inline void load_lanes(std::uint32_t* words, LaneMask lanes, const std::byte* row) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (((lanes >> lane) & 1U) != 0) words[lane] = word_at(row + 4 * lane);
  }
}
inline void load_lanes(std::uint32_t* words, LaneMask lanes, const std::byte* row, LaneMask others,
                       const std::byte* other_row) {
  load_lanes(words, lanes, row);
  load_lanes(words, others, other_row);
}
inline void store_lanes(const std::uint32_t* words, LaneMask lanes, std::byte* row) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (((lanes >> lane) & 1U) != 0) std::memcpy(row + 4 * lane, words + lane, 4);
  }
}

inline void gather_lanes(std::uint32_t* words, LaneMask lanes, const std::byte* at, const LaneOffsets& offsets) {
  write_lanes(words, lanes, [&](int lane) { return word_at(at + offsets[lane]); });
}

inline void gather_fours(const std::array<std::uint32_t*, 4>& words, LaneMask lanes, const std::byte* at,
                         const LaneOffsets& offsets) {
  for (std::size_t element = 0; element < words.size(); ++element) {
    gather_lanes(words[element], lanes, at + 4 * element, offsets);
  }
}

#endif

}  // namespace convladder::simulated
