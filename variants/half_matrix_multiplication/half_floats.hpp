// Converts half floats to floats, exactly, with special instructions where the processor has them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace half_floats {

/// Converts a half float by its bits: sign, 5 bits of exponent, 10 of fraction.
inline float to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = half >> 10 & 0x1F;
  const std::uint32_t fraction = half & 0x3FF;
  if (exponent == 0) {
    const float tiny = static_cast<float>(fraction) * 0x1p-24F;  // subnormal, or zero
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(tiny));
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;  // infinity and NaN keep their kind
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

inline void to_floats(const std::uint16_t* from, int count, float* to) {
  int i = 0;
#if defined(__AVX512F__)
  // With a mask of all lanes: for the form without a mask GCC warns of an undefined value in its own header.
  for (; i + 16 <= count; i += 16) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    _mm512_storeu_ps(to + i, _mm512_maskz_cvtph_ps(0xFFFF, halves));
  }
#elif defined(__F16C__)
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  }
#endif
  for (; i < count; ++i) to[i] = to_float(from[i]);
}

}  // namespace half_floats
