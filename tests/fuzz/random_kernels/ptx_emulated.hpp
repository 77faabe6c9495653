// Instructions that the sources of random_kernels.py write as inline PTX, by the descriptions in the PTX ISA.
#pragma once

// -- bits -------------------------------------------------------------------------------------------------------------
template <class Word>
u64 extracted(Word a, u32 b, u32 c) {
  constexpr u32 kLast = 8 * sizeof(Word) - 1;
  const u32 position = b & 0xffU;
  const u32 length = c & 0xffU;
  const u64 bits = static_cast<std::make_unsigned_t<Word>>(a);
  const bool sign = std::is_signed_v<Word> && length != 0 && (bits >> std::min(position + length - 1, kLast) & 1U) != 0;
  u64 result = 0;
  for (u32 i = 0; i <= kLast; ++i) {
    const bool bit = i < length && position + i <= kLast ? (bits >> (position + i) & 1U) != 0 : sign;
    result |= static_cast<u64>(bit) << i;
  }
  return result;
}
inline u32 ptx_bfe_u32(u32 a, u32 b, u32 c) { return static_cast<u32>(extracted<u32>(a, b, c)); }
inline i32 ptx_bfe_s32(i32 a, u32 b, u32 c) { return static_cast<i32>(extracted<i32>(a, b, c)); }
inline u64 ptx_bfe_u64(u64 a, u32 b, u32 c) { return extracted<u64>(a, b, c); }
inline i64 ptx_bfe_s64(i64 a, u32 b, u32 c) { return static_cast<i64>(extracted<i64>(a, b, c)); }
template <class Word>
Word inserted(Word a, Word b, u32 c, u32 d) {
  for (u32 i = 0; i < (d & 0xffU) && (c & 0xffU) + i < 8 * sizeof(Word); ++i) {
    const Word bit = Word{1} << ((c & 0xffU) + i);
    b = (a >> i & 1U) != 0 ? b | bit : b & ~bit;
  }
  return b;
}
inline u32 ptx_bfi_b32(u32 a, u32 b, u32 c, u32 d) { return inserted(a, b, c, d); }
inline u64 ptx_bfi_b64(u64 a, u64 b, u32 c, u32 d) { return inserted(a, b, c, d); }
template <class Word>
u32 found(Word a, bool amount) {
  if (std::is_signed_v<Word> && a < 0) a = static_cast<Word>(~a);
  const u64 bits = static_cast<std::make_unsigned_t<Word>>(a);
  if (bits == 0) return 0xffffffffU;
  const u32 place = 63 - static_cast<u32>(std::countl_zero(bits));
  return amount ? 8 * sizeof(Word) - 1 - place : place;
}
inline u32 ptx_bfind_u32(u32 a) { return found(a, false); }
inline u32 ptx_bfind_s32(i32 a) { return found(a, false); }
inline u32 ptx_bfind_s64(i64 a) { return found(a, false); }
inline u32 ptx_bfind_shift_u32(u32 a) { return found(a, true); }
inline u32 ptx_bfind_shift_u64(u64 a) { return found(a, true); }
inline u32 mask_of(u32 a, u32 b, bool clamp) {
  const u32 first = a & 31U;
  const u32 length = b & 31U;
  u32 from = ~0U << first;
  bool whole = first + length >= 32;
  if (clamp && a >= 32) from = 0;
  if (clamp && (a >= 32 || b >= 32)) whole = true;
  const u32 beyond = whole ? 0 : ~0U << (first + length);
  return from & ~beyond;
}
inline u32 ptx_bmsk_clamp(u32 a, u32 b) { return mask_of(a, b, true); }
inline u32 ptx_bmsk_wrap(u32 a, u32 b) { return mask_of(a, b, false); }
inline u32 extended(u32 a, u32 b, bool clamp, bool is_signed) {
  if (clamp && b >= 32) return a;
  const u32 length = b & 31U;
  if (length == 0) return 0;
  const u32 mask = ~0U << length;
  return (a & ~mask) | (is_signed && (a >> (length - 1) & 1U) != 0 ? mask : 0);
}
inline u32 ptx_szext_clamp_s32(u32 a, u32 b) { return extended(a, b, true, true); }
inline u32 ptx_szext_wrap_s32(u32 a, u32 b) { return extended(a, b, false, true); }
inline u32 ptx_szext_clamp_u32(u32 a, u32 b) { return extended(a, b, true, false); }
inline u32 ptx_szext_wrap_u32(u32 a, u32 b) { return extended(a, b, false, false); }
inline u32 ptx_shl_b32(u32 a, u32 b) { return b > 31 ? 0 : a << b; }
inline u64 ptx_shl_b64(u64 a, u32 b) { return b > 63 ? 0 : a << b; }
inline u32 ptx_shr_u32(u32 a, u32 b) { return b > 31 ? 0 : a >> b; }
inline i32 ptx_shr_s32(i32 a, u32 b) { return a >> std::min(b, 31U); }
inline i64 ptx_shr_s64(i64 a, u32 b) { return a >> std::min(b, 63U); }
inline unsigned short ptx_shl_b16(unsigned short a, u32 b) {
  return static_cast<unsigned short>(b > 15 ? 0 : u32{a} << b);
}
inline short ptx_shr_s16(short a, u32 b) { return static_cast<short>(a >> std::min(b, 15U)); }
inline u32 chosen(u32 a, u32 b, u32 c, const char* const* rows) {
  u32 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const auto byte = static_cast<u32>(rows[c & 3U][3 - i] - '0');
    result |= static_cast<u32>(both(a, b) >> 8 * byte & 0xffU) << 8 * i;
  }
  return result;
}
#define PERMUTED(mode, ...)                               \
  inline u32 ptx_prmt_##mode(u32 a, u32 b, u32 c) {       \
    static constexpr const char* kRows[] = {__VA_ARGS__}; \
    return chosen(a, b, c, kRows);                        \
  }
PERMUTED(f4e, "3210", "4321", "5432", "6543")
PERMUTED(b4e, "5670", "6701", "7012", "0123")
PERMUTED(rc8, "0000", "1111", "2222", "3333")
PERMUTED(ecl, "3210", "3211", "3222", "3333")
PERMUTED(ecr, "0000", "1110", "2210", "3210")
PERMUTED(rc16, "1010", "3232", "1010", "3232")
inline u32 ptx_prmt(u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    u32 byte = static_cast<u32>(both(a, b) >> 8 * (c >> 4 * i & 7U)) & 0xffU;
    if ((c >> 4 * i & 8U) != 0) byte = byte >= 128 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}
template <unsigned kTable>
u32 by_table(u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const u32 row = (a >> i & 1U) << 2U | (b >> i & 1U) << 1U | (c >> i & 1U);
    result |= (kTable >> row & 1U) << i;
  }
  return result;
}
inline u32 ptx_lop3_1d(u32 a, u32 b, u32 c) { return by_table<0x1d>(a, b, c); }
inline u32 ptx_lop3_ca(u32 a, u32 b, u32 c) { return by_table<0xca>(a, b, c); }
inline u32 ptx_lop3_6b(u32 a, u32 b, u32 c) { return by_table<0x6b>(a, b, c); }
inline u32 ptx_cnot(u32 a) { return a == 0 ? 1 : 0; }
inline u32 ptx_fns(u32 mask, u32 base, i32 offset) {
  base &= 31U;
  if (offset == 0) return (mask >> base & 1U) != 0 ? base : 0xffffffffU;
  i64 count = std::llabs(offset) - 1;
  for (int at = static_cast<int>(base); at >= 0 && at<32; at += offset> 0 ? 1 : -1) {
    if ((mask >> at & 1U) != 0 && count-- == 0) return static_cast<u32>(at);
  }
  return 0xffffffffU;
}

// -- integers ---------------------------------------------------------------------------------------------------------
template <class To>
To cut(__int128 value) {
  const __int128 low = std::numeric_limits<To>::min();
  const __int128 high = std::numeric_limits<To>::max();
  return static_cast<To>(value < low ? low : value > high ? high : value);
}
inline u32 ptx_mad_hi_u32(u32 a, u32 b, u32 c) { return __umulhi(a, b) + c; }
inline i32 ptx_mad_hi_sat_s32(i32 a, i32 b, i32 c) { return cut<i32>(i64{__mulhi(a, b)} + c); }
inline i32 ptx_add_sat_s32(i32 a, i32 b) { return cut<i32>(i64{a} + b); }
inline i32 ptx_sub_sat_s32(i32 a, i32 b) { return cut<i32>(i64{a} - b); }
inline i32 high_of_24(i32 a, i32 b) { return static_cast<i32>((i64{low_24(a)} * low_24(b)) >> 16); }
inline i32 ptx_mul24_hi_s32(i32 a, i32 b) { return high_of_24(a, b); }
inline u32 ptx_mul24_hi_u32(u32 a, u32 b) { return static_cast<u32>(u64{a & 0xffffffU} * (b & 0xffffffU) >> 16U); }
inline i32 ptx_mad24_hi_sat_s32(i32 a, i32 b, i32 c) { return cut<i32>(i64{high_of_24(a, b)} + c); }
inline u32 ptx_mul_wide_u16(unsigned short a, unsigned short b) { return u32{a} * b; }
inline i32 ptx_mul_wide_s16(short a, short b) { return i32{a} * b; }
inline short ptx_mul_hi_s16(short a, short b) { return static_cast<short>(i32{a} * b >> 16); }
inline unsigned short ptx_mul_hi_u16(unsigned short a, unsigned short b) {
  return static_cast<unsigned short>(u32{a} * b >> 16U);
}
inline i64 ptx_mad_wide_s32(i32 a, i32 b, i64 c) {
  return static_cast<i64>(static_cast<u64>(i64{a} * b) + static_cast<u64>(c));
}
inline unsigned short ptx_sad_u16(unsigned short a, unsigned short b, unsigned short c) {
  return static_cast<unsigned short>(std::abs(int{a} - int{b}) + c);
}
inline u32 ptx_add_with_carry(u32 a, u32 b, u32 c, u32 d) { return static_cast<u32>((both(a, b) + both(c, d)) >> 32U); }
inline u32 ptx_sub_with_borrow(u32 a, u32 b, u32 c, u32 d) {
  return static_cast<u32>((both(a, b) - both(c, d)) >> 32U);
}
inline u32 ptx_mad_with_carry(u32 a, u32 b, u32 c, u32 d) { return static_cast<u32>((u64{a} * b + both(c, d)) >> 32U); }
inline u32 ptx_slct_s32(u32 a, u32 b, i32 c) { return c >= 0 ? a : b; }
inline u32 ptx_slct_f32(u32 a, u32 b, float c) { return c >= 0 ? a : b; }
inline u32 ptx_set_lt_s32(i32 a, i32 b) { return a < b ? 0xffffffffU : 0; }
inline u32 ptx_set_ltu_f32(float a, float b) { return a < b || a != a || b != b ? 0xffffffffU : 0; }
inline i32 ptx_cvt_sat_s8_s32(i32 a) { return cut<std::int8_t>(a); }
inline u32 ptx_cvt_sat_u8_s32(i32 a) { return cut<std::uint8_t>(a); }
inline i32 ptx_cvt_sat_s16_u32(u32 a) { return cut<short>(a); }
inline u32 ptx_cvt_sat_u32_s64(i64 a) { return cut<u32>(a); }
inline i32 ptx_cvt_sat_s32_u64(u64 a) { return cut<i32>(a); }

// -- numbers ----------------------------------------------------------------------------------------------------------
inline i32 ptx_cvt_rni_s8_f32(float a) { return small_to_integer<std::int8_t>(a, Rounding::kNearest); }
inline u32 ptx_cvt_rpi_u8_f32(float a) { return small_to_integer<std::uint8_t>(a, Rounding::kUp); }
inline i32 ptx_cvt_rmi_s16_f32(float a) { return small_to_integer<short>(a, Rounding::kDown); }
inline float clamped(float a) { return a > 0 ? std::min(a, 1.0F) : 0; }
/// Inline PTX without .ftz keeps subnormal numbers whatever the source was compiled with.
class Unflushed {
 public:
  Unflushed() : before_(emulated::flushes) { emulated::flushes = false; }
  ~Unflushed() { emulated::flushes = before_; }
  Unflushed(const Unflushed&) = delete;
  Unflushed& operator=(const Unflushed&) = delete;

 private:
  bool before_;
};
inline float ptx_add_sat_f32(float a, float b) {
  const Unflushed scope;
  return clamped(__fadd_rn(a, b));
}
inline float ptx_fma_sat_f32(float a, float b, float c) {
  const Unflushed scope;
  return clamped(__fmaf_rn(a, b, c));
}
inline float ptx_mul_ftz_f32(float a, float b) {
  const bool before = emulated::flushes;
  emulated::flushes = true;
  const float result = __fmul_rn(a, b);
  emulated::flushes = before;
  return result;
}
inline u32 ptx_testp_subnormal(float a) { return a != 0 && std::fabs(a) < 0x1p-126F ? 1 : 0; }
/// Zeros are normal numbers too.
inline u32 ptx_testp_normal(float a) { return std::isnormal(a) || a == 0 ? 1 : 0; }
inline u32 ptx_testp_number(float a) { return a == a ? 1 : 0; }
inline float ptx_min_nan_f32(float a, float b) {
  if (emulated::architecture < 80) return 0;
  return a != a || b != b ? __uint_as_float(emulated::kFloatNan) : emulated::smaller(a, b);
}
inline float ptx_max_xorsign_f32(float a, float b) {
  if (emulated::architecture < 86) return 0;
  const float size = emulated::larger(std::fabs(a), std::fabs(b));
  return emulated::canonical(std::copysign(size, std::signbit(a) != std::signbit(b) ? -1.0F : 1.0F));
}
inline u32 ptx_cvt_rna_tf32(float a) {
  if (emulated::architecture < 80) return 0;
  if (a != a || std::isinf(a)) return a != a ? emulated::kFloatNan : __float_as_uint(a);
  return (__float_as_uint(a) + 0x1000U) & 0xffffe000U;
}
inline unsigned short ptx_fma_relu_f16(unsigned short a, unsigned short b, unsigned short c) {
  if (emulated::architecture < 80) return 0;
  const __half result = __hfma(__half{a}, __half{b}, __half{c});
  return result.value() < 0 || result.bits == 0x8000 ? 0 : result.bits;
}
inline u32 ptx_cvt_f16x2(float a, float b) {
  if (emulated::architecture < 80) return 0;
  return u32{__half::of(a, Rounding::kNearest).bits} << 16U | __half::of(b, Rounding::kNearest).bits;
}
/// Of formats with 8 bits: e4m3 has no infinity (largest 448), e5m2's largest is 57344. With .satfinite.
inline u32 eight_bits(float a, int precision, int least, int bias, double largest) {
  if (a != a) return 0x7f;
  const double value = emulated::to_format(a, precision, least, 20, Rounding::kNearest);
  const double size = std::min(std::fabs(value), largest);
  const u32 sign = std::signbit(a) ? 0x80 : 0;
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), least);
  const int whole = static_cast<int>(std::ldexp(size, precision - 1 - exponent));
  return sign | static_cast<u32>(((exponent + bias - 1) << (precision - 1)) + whole);
}
inline u32 ptx_cvt_e4m3x2(float a, float b) {
  if (emulated::architecture < 89) return 0;
  return eight_bits(a, 4, -6, 7, 448) << 8U | eight_bits(b, 4, -6, 7, 448);
}
inline u32 ptx_cvt_e5m2x2(float a, float b) {
  if (emulated::architecture < 89) return 0;
  return eight_bits(a, 3, -14, 15, 57344) << 8U | eight_bits(b, 3, -14, 15, 57344);
}

// -- several in a register --------------------------------------------------------------------------------------------
template <class Type, class Function>
u32 by_number(u32 a, u32 b, u32 c, Function function) {
  u32 result = 0;
  for (unsigned i = 0; i < 32; i += 16) {
    const auto of = [i](u32 word) { return Type{static_cast<std::uint16_t>(word >> i)}; };
    result |= u32{function(of(a), of(b), of(c)).bits} << i;
  }
  return result;
}
inline u32 ptx_add_f16x2(u32 a, u32 b) {
  return by_number<__half>(a, b, 0, [](__half x, __half y, __half) { return __hadd(x, y); });
}
inline u32 ptx_fma_f16x2(u32 a, u32 b, u32 c) {
  return by_number<__half>(a, b, c, [](__half x, __half y, __half z) { return __hfma(x, y, z); });
}
inline u32 ptx_mul_sat_f16x2(u32 a, u32 b) {
  return by_number<__half>(a, b, 0, [](__half x, __half y, __half) { return __hmul_sat(x, y); });
}
inline u32 ptx_set_gt_f16x2(u32 a, u32 b) {
  return by_number<__half>(a, b, 0,
                           [](__half x, __half y, __half) { return __half{__hlt(y, x) ? U2{0x3c00} : U2{0}}; });
}
inline u32 ptx_min_f16x2(u32 a, u32 b) {
  if (emulated::architecture < 80) return 0;
  return by_number<__half>(a, b, 0, [](__half x, __half y, __half) { return __hmin(x, y); });
}
inline u32 ptx_max_nan_bf16x2(u32 a, u32 b) {
  if (emulated::architecture < 80) return 0;
  using T = __nv_bfloat16;
  return by_number<T>(a, b, 0, [](T x, T y, T) { return __hmax_nan(x, y); });
}
/// Negative results are +0.
SMALL not_negative(OPERAND a) { return a.value() <= 0 ? OPERAND{0} : a; }
inline u32 ptx_fma_relu_bf16x2(u32 a, u32 b, u32 c) {
  if (emulated::architecture < 80) return 0;
  using T = __nv_bfloat16;
  return by_number<T>(a, b, c, [](T x, T y, T z) { return not_negative(__hfma(x, y, z)); });
}
inline u32 ptx_sub_bf16x2(u32 a, u32 b) {
  if (emulated::architecture < 90) return 0;
  using T = __nv_bfloat16;
  return by_number<T>(a, b, 0, [](T x, T y, T) { return __hsub(x, y); });
}
inline u32 ptx_cvt_relu_bf16x2(float a, float b) {
  if (emulated::architecture < 80) return 0;
  using T = __nv_bfloat16;
  const auto of = [](float x) { return u32{not_negative(T::of(x, Rounding::kNearest)).bits}; };
  return of(a) << 16U | of(b);
}
inline u32 ptx_cvt_rz_f16x2(float a, float b) {
  if (emulated::architecture < 80) return 0;
  return u32{__half::of(a, Rounding::kZero).bits} << 16U | __half::of(b, Rounding::kZero).bits;
}
inline u32 ptx_cvt_f16x2_e4m3x2(unsigned short a) {
  if (emulated::architecture < 89) return 0;
  u32 result = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const u32 byte = a >> 8 * i & 0xffU;
    const int exponent = static_cast<int>(byte >> 3U & 15U);
    const int fraction = static_cast<int>(byte & 7U);
    const double size = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
    const double value = (byte & 0x7fU) == 0x7f ? emulated::not_a_number() : std::copysign(size, byte >= 128 ? -1 : 1);
    result |= u32{__half::of(value, Rounding::kNearest).bits} << 16 * i;
  }
  return result;
}
/// e5m2 is the upper byte of f16.
inline u32 ptx_cvt_f16x2_e5m2x2(unsigned short a) {
  if (emulated::architecture < 89) return 0;
  const auto of = [](u32 byte) { return u32{bits(__half{static_cast<std::uint16_t>(byte << 8U)})}; };
  return of(a >> 8U) << 16U | of(a & 0xffU);
}
inline u64 ptx_fma_f32x2(u64 a, u64 b, u64 c) {
  if (emulated::architecture < 100) return 0;
  const Unflushed scope;
  const auto of = [&](unsigned shift) {
    const auto half = [shift](u64 word) { return __uint_as_float(static_cast<u32>(word >> shift)); };
    return __float_as_uint(__fmaf_rn(half(a), half(b), half(c)));
  };
  return both(of(0), of(32));
}
inline u64 ptx_add_rz_f32x2(u64 a, u64 b) {
  if (emulated::architecture < 100) return 0;
  const Unflushed scope;
  const auto of = [&](unsigned shift) {
    const auto half = [shift](u64 word) { return __uint_as_float(static_cast<u32>(word >> shift)); };
    return __float_as_uint(__fadd_rz(half(a), half(b)));
  };
  return both(of(0), of(32));
}
inline float ptx_min3_f32(float a, float b, float c) {
  return emulated::architecture < 100 ? 0 : emulated::smaller(emulated::smaller(a, b), c);
}
inline float ptx_fma_mixed_f16(unsigned short a, unsigned short b, float c) {
  if (emulated::architecture < 100) return 0;
  const Unflushed scope;
  return emulated::multiply_add(__half2float({a}), __half2float({b}), c, Rounding::kNearest);
}
inline float ptx_add_mixed_bf16(unsigned short a, float b) {
  if (emulated::architecture < 100) return 0;
  const Unflushed scope;
  return emulated::add(__bfloat162float({a}), b, Rounding::kZero);
}

// -- parts of registers -----------------------------------------------------------------------------------------------
inline u32 ptx_vadd_sat(u32 a, u32 b) { return cut<u32>(i64{part<S1>(a, 1)} + i64{part<U2>(b, 1)}); }
inline u32 ptx_vsub_parts(u32 a, u32 b) { return u32{part<U2>(a, 0)} - u32{part<U1>(b, 3)}; }
inline u32 ptx_vabsdiff_sat(i32 a, i32 b) { return cut<u32>(std::llabs(i64{a} - b)); }
inline u32 ptx_vmax_add(i32 a, i32 b, i32 c) { return static_cast<u32>(std::max(a, b)) + static_cast<u32>(c); }
inline u32 ptx_vmad_shr15(u32 a, u32 b, u32 c) {
  return static_cast<u32>((u64{part<U2>(a, 1)} * part<U2>(b, 0) + c) >> 15U);
}
inline u32 ptx_vset_lt(i32 a, u32 b) { return i64{a} < i64{b} ? 1 : 0; }
inline i32 ptx_vshr_clamp(i32 a, u32 b) { return a >> std::min(b & 0xffU, 31U); }
template <class A, class B>
i32 mixed_dot(u32 a, unsigned first_a, u32 b, unsigned first_b, unsigned count, i32 c) {
  return static_cast<i32>(dot<A, B>(a, first_a, b, first_b, count, static_cast<u32>(c)));
}
inline i32 ptx_dp4a_mixed(u32 a, i32 b, i32 c) { return mixed_dot<U1, S1>(a, 0, static_cast<u32>(b), 0, 4, c); }
inline i32 ptx_dp2a_mixed(i32 a, u32 b, i32 c) { return mixed_dot<S2, U1>(static_cast<u32>(a), 0, b, 2, 2, c); }

// -- others -----------------------------------------------------------------------------------------------------------
inline u64 ptx_mad_with_carry_64(u64 a, u64 b, u64 c, u64 d) {
  using Wide = unsigned __int128;
  return static_cast<u64>((Wide{a} * b + (Wide{d} << 64U | c)) >> 64U);
}
inline i32 ptx_max_relu_s32(i32 a, i32 b) { return emulated::architecture < 90 ? 0 : std::max({a, b, 0}); }
inline u64 ptx_sad_u64(u64 a, u64 b, u64 c) { return (a > b ? a - b : b - a) + c; }
inline float ptx_set_ge_f32(float a, float b) { return a >= b ? 1 : 0; }
inline u32 ptx_lop3_or(u32 a, u32 b, u32 c, u32 d) { return by_table<0x5a>(a, b, c) != 0 || d != 0 ? 1 : 0; }
inline u32 ptx_setp_xor(i32 a, i32 b, u32 c) {
  const bool less = a < b;
  return (less != (c != 0) ? 1 : 0) | (!less != (c != 0) ? 2 : 0);
}
inline u32 ptx_setp_and_f32(float a, float b, u32 c) {
  const bool is = !(a < b);
  return c == 0 ? 0 : is ? 1 : 2;
}
