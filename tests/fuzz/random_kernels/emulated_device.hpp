// CUDA's names for the host's compiler: with this in front, g++ compiles a source of random_kernels.py, and its kernels
// run on the CPU, bit for bit as a GPU would run them.
#pragma once

#include "arithmetic.hpp"
#include "recorded.hpp"
#include "threads.hpp"

#define __global__
#define __device__
#define __constant__
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define threadIdx (emulated::self().index)
#define blockIdx (emulated::block_index)
#define blockDim (emulated::block_size)
#define gridDim (emulated::grid_size)

using emulated::Rounding;

// -- integers ---------------------------------------------------------------------------------------------------------
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = long long;
using u64 = unsigned long long;

inline int __popc(u32 a) { return std::popcount(a); }
inline int __popcll(u64 a) { return std::popcount(a); }
inline int __clz(i32 a) { return std::countl_zero(static_cast<u32>(a)); }
inline int __clzll(i64 a) { return std::countl_zero(static_cast<u64>(a)); }
inline int __ffs(i32 a) { return a == 0 ? 0 : std::countr_zero(static_cast<u32>(a)) + 1; }
inline int __ffsll(i64 a) { return a == 0 ? 0 : std::countr_zero(static_cast<u64>(a)) + 1; }
template <class Word>
Word reversed(Word a) {
  Word result = 0;
  for (unsigned bit = 0; bit < 8 * sizeof a; ++bit) result = static_cast<Word>(result << 1U | (a >> bit & 1U));
  return result;
}
inline u32 __brev(u32 a) { return reversed(a); }
inline u64 __brevll(u64 a) { return reversed(a); }
inline u32 __byte_perm(u32 a, u32 b, u32 selector) {
  const u64 bytes = static_cast<u64>(b) << 32U | a;
  u32 result = 0;
  for (unsigned i = 0; i < 4; ++i) result |= static_cast<u32>(bytes >> 8 * (selector >> 4 * i & 7U) & 0xffU) << 8 * i;
  return result;
}
inline u64 both(u32 low, u32 high) { return static_cast<u64>(high) << 32U | low; }
inline u32 __funnelshift_l(u32 low, u32 high, u32 shift) { return (both(low, high) << (shift & 31U)) >> 32U; }
inline u32 __funnelshift_lc(u32 low, u32 high, u32 shift) { return (both(low, high) << std::min(shift, 32U)) >> 32U; }
inline u32 __funnelshift_r(u32 low, u32 high, u32 shift) { return both(low, high) >> (shift & 31U); }
inline u32 __funnelshift_rc(u32 low, u32 high, u32 shift) { return both(low, high) >> std::min(shift, 32U); }
inline i32 __mulhi(i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); }
inline u32 __umulhi(u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32U); }
inline i64 __mul64hi(i64 a, i64 b) { return static_cast<i64>(static_cast<__int128>(a) * b >> 64); }
inline u64 __umul64hi(u64 a, u64 b) { return static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64U); }
inline i32 low_24(i32 a) { return static_cast<i32>(static_cast<u32>(a) << 8U) >> 8; }
inline i32 __mul24(i32 a, i32 b) { return static_cast<i32>(static_cast<u64>(i64{low_24(a)} * low_24(b))); }
inline u32 __umul24(u32 a, u32 b) { return (a & 0xffffffU) * (b & 0xffffffU); }
inline u32 __sad(i32 a, i32 b, u32 c) { return static_cast<u32>(std::llabs(i64{a} - b)) + c; }
inline u32 __usad(u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }
inline i32 __hadd(i32 a, i32 b) { return static_cast<i32>((i64{a} + b) >> 1); }
inline i32 __rhadd(i32 a, i32 b) { return static_cast<i32>((i64{a} + b + 1) >> 1); }
inline u32 __uhadd(u32 a, u32 b) { return static_cast<u32>((u64{a} + b) >> 1U); }
inline u32 __urhadd(u32 a, u32 b) { return static_cast<u32>((u64{a} + b + 1) >> 1U); }

/// The `index`th of the parts of `Part` in a word.
template <class Part>
Part part(u32 word, unsigned index) {
  return static_cast<Part>(word >> 8 * sizeof(Part) * index);
}
template <class Part, class Function>
u32 by_part(u32 a, u32 b, Function function) {
  u32 result = 0;
  for (unsigned i = 0; i < 4 / sizeof(Part); ++i) {
    const auto value = static_cast<std::make_unsigned_t<Part>>(function(int{part<Part>(a, i)}, int{part<Part>(b, i)}));
    result |= static_cast<u32>(value) << 8 * sizeof(Part) * i;
  }
  return result;
}
template <class Part>
int within(int value) {
  return std::clamp<int>(value, std::numeric_limits<Part>::min(), std::numeric_limits<Part>::max());
}
#define BY_PART(name, Part, expression)                                                    \
  inline u32 name(u32 x, u32 y) {                                                          \
    return by_part<Part>(x, y, [](int a, int b) { return static_cast<int>(expression); }); \
  }
using S1 = std::int8_t;
using U1 = std::uint8_t;
using S2 = std::int16_t;
using U2 = std::uint16_t;
BY_PART(__vadd2, U2, a + b)
BY_PART(__vadd4, U1, a + b)
BY_PART(__vsub2, U2, a - b)
BY_PART(__vsub4, U1, a - b)
BY_PART(__vaddss2, S2, within<S2>(a + b))
BY_PART(__vaddss4, S1, within<S1>(a + b))
BY_PART(__vaddus2, U2, within<U2>(a + b))
BY_PART(__vaddus4, U1, within<U1>(a + b))
BY_PART(__vsubss2, S2, within<S2>(a - b))
BY_PART(__vsubus4, U1, within<U1>(a - b))
BY_PART(__vavgs2, S2, (a + b + (a + b >= 0 ? 1 : 0)) >> 1)
BY_PART(__vavgu2, U2, (a + b + 1) >> 1)
BY_PART(__vavgu4, U1, (a + b + 1) >> 1)
BY_PART(__vhaddu2, U2, (a + b) >> 1)
BY_PART(__vhaddu4, U1, (a + b) >> 1)
BY_PART(__vmaxs2, S2, std::max(a, b))
BY_PART(__vmaxs4, S1, std::max(a, b))
BY_PART(__vmaxu2, U2, std::max(a, b))
BY_PART(__vmaxu4, U1, std::max(a, b))
BY_PART(__vmins2, S2, std::min(a, b))
BY_PART(__vmins4, S1, std::min(a, b))
BY_PART(__vminu2, U2, std::min(a, b))
BY_PART(__vminu4, U1, std::min(a, b))
BY_PART(__vabsdiffs2, S2, std::abs(a - b))
BY_PART(__vabsdiffs4, S1, std::abs(a - b))
BY_PART(__vabsdiffu2, U2, std::abs(a - b))
BY_PART(__vabsdiffu4, U1, std::abs(a - b))
BY_PART(__vcmpeq2, U2, a == b ? -1 : 0)
BY_PART(__vcmpeq4, U1, a == b ? -1 : 0)
BY_PART(__vcmpgts2, S2, a > b ? -1 : 0)
BY_PART(__vcmpgts4, S1, a > b ? -1 : 0)
BY_PART(__vcmpgtu2, U2, a > b ? -1 : 0)
BY_PART(__vcmpgtu4, U1, a > b ? -1 : 0)
BY_PART(__vcmpleu4, U1, a <= b ? -1 : 0)
BY_PART(__vsetlts2, S2, a < b ? 1 : 0)
BY_PART(__vsetltu4, U1, a < b ? 1 : 0)
BY_PART(__vsetne4, S1, a != b ? 1 : 0)
inline u32 __vnegss2(u32 a) {
  return by_part<S2>(a, 0, [](int x, int) { return within<S2>(-x); });
}
inline u32 __vneg4(u32 a) {
  return by_part<S1>(a, 0, [](int x, int) { return -x; });
}
inline u32 __vabsss4(u32 a) {
  return by_part<S1>(a, 0, [](int x, int) { return within<S1>(std::abs(x)); });
}
template <class Part>
u32 sum_of_differences(u32 a, u32 b) {
  u32 sum = 0;
  for (unsigned i = 0; i < 4 / sizeof(Part); ++i) sum += std::abs(int{part<Part>(a, i)} - int{part<Part>(b, i)});
  return sum;
}
inline u32 __vsads2(u32 a, u32 b) { return sum_of_differences<S2>(a, b); }
inline u32 __vsads4(u32 a, u32 b) { return sum_of_differences<S1>(a, b); }
inline u32 __vsadu2(u32 a, u32 b) { return sum_of_differences<U2>(a, b); }
inline u32 __vsadu4(u32 a, u32 b) { return sum_of_differences<U1>(a, b); }
template <class A, class B>
u32 dot(u32 a, unsigned first_a, u32 b, unsigned first_b, unsigned count, u32 c) {
  for (unsigned i = 0; i < count; ++i) {
    c += static_cast<u32>(int{part<A>(a, first_a + i)}) * static_cast<u32>(int{part<B>(b, first_b + i)});
  }
  return c;
}
inline i32 __dp4a(i32 a, i32 b, i32 c) { return dot<S1, S1>(a, 0, b, 0, 4, c); }
inline u32 __dp4a(u32 a, u32 b, u32 c) { return dot<U1, U1>(a, 0, b, 0, 4, c); }
inline i32 __dp2a_lo(i32 a, i32 b, i32 c) { return dot<S2, S1>(a, 0, b, 0, 2, c); }
inline i32 __dp2a_hi(i32 a, i32 b, i32 c) { return dot<S2, S1>(a, 0, b, 2, 2, c); }
inline u32 __dp2a_lo(u32 a, u32 b, u32 c) { return dot<U2, U1>(a, 0, b, 0, 2, c); }
inline u32 __dp2a_hi(u32 a, u32 b, u32 c) { return dot<U2, U1>(a, 0, b, 2, 2, c); }
template <class Number>
std::enable_if_t<std::is_integral_v<Number>, Number> min(Number a, Number b) {
  return b < a ? b : a;
}
template <class Number>
std::enable_if_t<std::is_integral_v<Number>, Number> max(Number a, Number b) {
  return a < b ? b : a;
}

// -- bits of numbers --------------------------------------------------------------------------------------------------
inline u32 __float_as_uint(float a) { return std::bit_cast<u32>(a); }
inline float __uint_as_float(u32 a) { return std::bit_cast<float>(a); }
inline i64 __double_as_longlong(double a) { return std::bit_cast<i64>(a); }
inline double __longlong_as_double(i64 a) { return std::bit_cast<double>(a); }
inline i32 __double2hiint(double a) { return static_cast<i32>(std::bit_cast<u64>(a) >> 32U); }
inline i32 __double2loint(double a) { return static_cast<i32>(std::bit_cast<u64>(a)); }
inline double __hiloint2double(i32 high, i32 low) {
  return std::bit_cast<double>(both(static_cast<u32>(low), static_cast<u32>(high)));
}

// -- f32 and f64 ------------------------------------------------------------------------------------------------------
#define ROUNDED(suffix, mode)                                                                                  \
  inline float __fadd_##suffix(float a, float b) { return emulated::add(a, b, mode); }                         \
  inline float __fsub_##suffix(float a, float b) { return emulated::add(a, -b, mode); }                        \
  inline float __fmul_##suffix(float a, float b) { return emulated::multiply(a, b, mode); }                    \
  inline float __fmaf_##suffix(float a, float b, float c) { return emulated::multiply_add(a, b, c, mode); }    \
  inline float __fdiv_##suffix(float a, float b) { return emulated::divide(a, b, mode); }                      \
  inline float __frcp_##suffix(float a) { return emulated::divide(1.0F, a, mode); }                            \
  inline float __fsqrt_##suffix(float a) { return emulated::square_root(a, mode); }                            \
  inline double __dadd_##suffix(double a, double b) { return emulated::add(a, b, mode); }                      \
  inline double __dsub_##suffix(double a, double b) { return emulated::add(a, -b, mode); }                     \
  inline double __dmul_##suffix(double a, double b) { return emulated::multiply(a, b, mode); }                 \
  inline double __fma_##suffix(double a, double b, double c) { return emulated::multiply_add(a, b, c, mode); } \
  inline double __ddiv_##suffix(double a, double b) { return emulated::divide(a, b, mode); }                   \
  inline double __drcp_##suffix(double a) { return emulated::divide(1.0, a, mode); }                           \
  inline double __dsqrt_##suffix(double a) { return emulated::square_root(a, mode); }                          \
  inline float __double2float_##suffix(double a) { return emulated::to_float_from_double(a, mode); }           \
  inline i32 __float2int_##suffix(float a) { return emulated::to_integer<i32>(a, mode); }                      \
  inline u32 __float2uint_##suffix(float a) { return emulated::to_integer<u32>(a, mode); }                     \
  inline i64 __float2ll_##suffix(float a) { return emulated::to_integer<i64>(a, mode); }                       \
  inline u64 __float2ull_##suffix(float a) { return emulated::to_integer<u64>(a, mode); }                      \
  inline i32 __double2int_##suffix(double a) { return emulated::to_integer<i32>(a, mode); }                    \
  inline u32 __double2uint_##suffix(double a) { return emulated::to_integer<u32>(a, mode); }                   \
  inline i64 __double2ll_##suffix(double a) { return emulated::to_integer<i64>(a, mode); }                     \
  inline u64 __double2ull_##suffix(double a) { return emulated::to_integer<u64>(a, mode); }                    \
  inline float __int2float_##suffix(i32 a) { return emulated::from_integer<float>(a, mode); }                  \
  inline float __uint2float_##suffix(u32 a) { return emulated::from_integer<float>(a, mode); }                 \
  inline float __ll2float_##suffix(i64 a) { return emulated::from_integer<float>(a, mode); }                   \
  inline float __ull2float_##suffix(u64 a) { return emulated::from_integer<float>(a, mode); }                  \
  inline double __ll2double_##suffix(i64 a) { return emulated::from_integer<double>(a, mode); }                \
  inline double __ull2double_##suffix(u64 a) { return emulated::from_integer<double>(a, mode); }
ROUNDED(rn, Rounding::kNearest)
ROUNDED(rz, Rounding::kZero)
ROUNDED(ru, Rounding::kUp)
ROUNDED(rd, Rounding::kDown)
inline double __int2double_rn(i32 a) { return a; }
inline double __uint2double_rn(u32 a) { return a; }
inline double widened(float a) { return emulated::canonical(double{emulated::flushed(a)}); }

// The names of math.h are the C library's: the generator writes these instead.
inline float gpu_min(float a, float b) {
  return emulated::flushed(emulated::smaller(emulated::flushed(a), emulated::flushed(b)));
}
inline float gpu_max(float a, float b) {
  return emulated::flushed(emulated::larger(emulated::flushed(a), emulated::flushed(b)));
}
inline double gpu_min(double a, double b) { return emulated::smaller(a, b); }
inline double gpu_max(double a, double b) { return emulated::larger(a, b); }
inline float gpu_abs(float a) { return std::fabs(emulated::flushed(a)); }
inline double gpu_abs(double a) { return std::fabs(a); }
template <class Number>
Number to_whole(Number a, Rounding rounding) {
  if constexpr (std::is_same_v<Number, float>) a = emulated::flushed(a);
  return emulated::canonical(std::isinf(a) || a != a ? a : static_cast<Number>(emulated::integral(a, rounding)));
}
template <class Number>
Number gpu_floor(Number a) {
  return to_whole(a, Rounding::kDown);
}
template <class Number>
Number gpu_ceil(Number a) {
  return to_whole(a, Rounding::kUp);
}
template <class Number>
Number gpu_trunc(Number a) {
  return to_whole(a, Rounding::kZero);
}
template <class Number>
Number gpu_rint(Number a) {
  return to_whole(a, Rounding::kNearest);
}
inline double gpu_fmod(double a, double b) { return emulated::canonical(std::fmod(a, b)); }
template <class Number>
bool less(Number a, Number b) {
  if constexpr (std::is_same_v<Number, float>) return emulated::flushed(a) < emulated::flushed(b);
  return a < b;
}
template <class Number>
bool not_less(Number a, Number b) {
  return !less(a, b);
}
template <class Number>
bool same(Number a, Number b) {
  if constexpr (std::is_same_v<Number, float>) return emulated::flushed(a) == emulated::flushed(b);
  return a == b;
}

/// A number's bits as they are compared: one NaN, and what a fast program may leave unflushed, flushed.
inline u32 bits(float a) { return __float_as_uint(emulated::canonical(emulated::flushed(a))); }
inline u64 bits(double a) { return std::bit_cast<u64>(emulated::canonical(a)); }

// -- f16 and bfloat16 -------------------------------------------------------------------------------------------------
using __half = emulated::Small<11, 15>;
using __nv_bfloat16 = emulated::Small<8, 127>;
inline __half __ushort_as_half(unsigned short a) { return {a}; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return {a}; }
inline unsigned short __half_as_ushort(__half a) { return a.bits; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }

inline unsigned short bits(__half a) { return std::isnan(a.value()) ? 0x7fff : a.bits; }
inline unsigned short bits(__nv_bfloat16 a) { return std::isnan(a.value()) ? 0x7fff : a.bits; }

#define SMALL                          \
  template <int kPrecision, int kMost> \
  emulated::Small<kPrecision, kMost>
#define SMALL_BOOL                     \
  template <int kPrecision, int kMost> \
  bool
#define OPERAND emulated::Small<kPrecision, kMost>
SMALL rounded_sum(OPERAND, double a, double b) {
  return OPERAND::of(emulated::odd_sum(a, b, Rounding::kNearest), Rounding::kNearest);
}
SMALL __hadd(OPERAND a, OPERAND b) { return rounded_sum(a, a.value(), b.value()); }
SMALL __hsub(OPERAND a, OPERAND b) { return rounded_sum(a, a.value(), -b.value()); }
SMALL __hmul(OPERAND a, OPERAND b) { return OPERAND::of(a.value() * b.value(), Rounding::kNearest); }
SMALL __hfma(OPERAND a, OPERAND b, OPERAND c) { return rounded_sum(a, a.value() * b.value(), c.value()); }
/// From 0 to 1, and 0 for NaN.
SMALL saturated(OPERAND a) {
  const double value = a.value();
  return OPERAND::of(value > 0 ? std::min(value, 1.0) : 0.0, Rounding::kNearest);
}
SMALL __hadd_sat(OPERAND a, OPERAND b) { return saturated(__hadd(a, b)); }
SMALL __hsub_sat(OPERAND a, OPERAND b) { return saturated(__hsub(a, b)); }
SMALL __hmul_sat(OPERAND a, OPERAND b) { return saturated(__hmul(a, b)); }
/// CUDA has it for bfloat16 from sm_80 on: below it is 0.
SMALL gpu_hfma(OPERAND a, OPERAND b, OPERAND c) {
  return kPrecision == 8 && emulated::architecture < 80 ? OPERAND{0} : __hfma(a, b, c);
}
SMALL gpu_hfma_sat(OPERAND a, OPERAND b, OPERAND c) { return saturated(gpu_hfma(a, b, c)); }
inline __half __hdiv(__half a, __half b) {
  return __half::of(emulated::to_odd([&] { return a.value() / b.value(); }), Rounding::kNearest);
}
inline __half hsqrt(__half a) {
  return __half::of(emulated::to_odd([&] { return std::sqrt(a.value()); }), Rounding::kNearest);
}
SMALL __hneg(OPERAND a) { return {static_cast<std::uint16_t>(a.bits ^ 0x8000U)}; }
SMALL __habs(OPERAND a) { return {static_cast<std::uint16_t>(a.bits & 0x7fffU)}; }
SMALL __hmin(OPERAND a, OPERAND b) { return OPERAND::of(emulated::smaller(a.value(), b.value()), Rounding::kNearest); }
SMALL __hmax(OPERAND a, OPERAND b) { return OPERAND::of(emulated::larger(a.value(), b.value()), Rounding::kNearest); }
SMALL_BOOL has_nan(OPERAND a, OPERAND b) { return std::isnan(a.value()) || std::isnan(b.value()); }
/// Below sm_80, CUDA's header compares bfloat16, and takes the first of +0 and -0.
SMALL_BOOL takes_first_zero(OPERAND a, OPERAND b) {
  return kPrecision == 8 && emulated::architecture < 80 && a.value() == b.value();
}
SMALL __hmin_nan(OPERAND a, OPERAND b) {
  if (has_nan(a, b)) return {OPERAND::kNan};
  return takes_first_zero(a, b) ? a : __hmin(a, b);
}
SMALL __hmax_nan(OPERAND a, OPERAND b) {
  if (has_nan(a, b)) return {OPERAND::kNan};
  return takes_first_zero(a, b) ? a : __hmax(a, b);
}
SMALL_BOOL __heq(OPERAND a, OPERAND b) { return a.value() == b.value(); }
SMALL_BOOL __hne(OPERAND a, OPERAND b) { return !has_nan(a, b) && a.value() != b.value(); }
SMALL_BOOL __hlt(OPERAND a, OPERAND b) { return a.value() < b.value(); }
SMALL_BOOL __hge(OPERAND a, OPERAND b) { return a.value() >= b.value(); }
SMALL_BOOL __hltu(OPERAND a, OPERAND b) { return has_nan(a, b) || a.value() < b.value(); }
SMALL_BOOL __hneu(OPERAND a, OPERAND b) { return a.value() != b.value(); }
SMALL small_whole(OPERAND a, Rounding rounding) {
  const double value = a.value();
  return OPERAND::of(std::isfinite(value) ? emulated::integral(value, rounding) : value, Rounding::kNearest);
}
SMALL hfloor(OPERAND a) { return small_whole(a, Rounding::kDown); }
SMALL hceil(OPERAND a) { return small_whole(a, Rounding::kUp); }
SMALL htrunc(OPERAND a) { return small_whole(a, Rounding::kZero); }
SMALL hrint(OPERAND a) { return small_whole(a, Rounding::kNearest); }

template <class Integer>
double odd_from_integer(Integer value) {
  const double near = emulated::from_integer<double>(value, Rounding::kZero);
  const bool exact =
      emulated::from_integer<double>(value, Rounding::kUp) == emulated::from_integer<double>(value, Rounding::kDown);
  return exact ? near : std::bit_cast<double>(std::bit_cast<u64>(near) | 1U);
}
inline double number_of(float a) { return a; }
template <int kPrecision, int kMost>
double number_of(OPERAND a) {
  return a.value();
}
/// As emulated::to_integer, but subnormal numbers are not flushed.
template <class Integer, class Number>
Integer small_to_integer(Number a, Rounding rounding) {
  const double value = number_of(a);
  if (std::isnan(value)) return sizeof(Integer) == 8 ? static_cast<Integer>(u64{1} << 63U) : 0;
  return emulated::to_integer<Integer>(value, rounding);
}
#define SMALL_INTEGER(name, Name, Type, Integer, suffix, mode) \
  inline Type __##name##2##Name##_##suffix(Integer a) { return Type::of(odd_from_integer(a), mode); }
#define SMALL_CONVERSIONS(name, Type, suffix, mode)                                                              \
  inline Type __float2##name##_##suffix(float a) { return Type::of(a, mode); }                                   \
  SMALL_INTEGER(int, name, Type, i32, suffix, mode)                                                              \
  SMALL_INTEGER(uint, name, Type, u32, suffix, mode)                                                             \
  SMALL_INTEGER(short, name, Type, short, suffix, mode)                                                          \
  SMALL_INTEGER(ushort, name, Type, unsigned short, suffix, mode)                                                \
  SMALL_INTEGER(ll, name, Type, i64, suffix, mode)                                                               \
  SMALL_INTEGER(ull, name, Type, u64, suffix, mode)                                                              \
  inline i32 __##name##2int_##suffix(Type a) { return small_to_integer<i32>(a, mode); }                          \
  inline u32 __##name##2uint_##suffix(Type a) { return small_to_integer<u32>(a, mode); }                         \
  inline short __##name##2short_##suffix(Type a) { return small_to_integer<short>(a, mode); }                    \
  inline unsigned short __##name##2ushort_##suffix(Type a) { return small_to_integer<unsigned short>(a, mode); } \
  inline i64 __##name##2ll_##suffix(Type a) { return small_to_integer<i64>(a, mode); }                           \
  inline u64 __##name##2ull_##suffix(Type a) { return small_to_integer<u64>(a, mode); }
SMALL_CONVERSIONS(half, __half, rn, Rounding::kNearest)
SMALL_CONVERSIONS(half, __half, rz, Rounding::kZero)
SMALL_CONVERSIONS(half, __half, ru, Rounding::kUp)
SMALL_CONVERSIONS(half, __half, rd, Rounding::kDown)
SMALL_CONVERSIONS(bfloat16, __nv_bfloat16, rn, Rounding::kNearest)
SMALL_CONVERSIONS(bfloat16, __nv_bfloat16, rz, Rounding::kZero)
SMALL_CONVERSIONS(bfloat16, __nv_bfloat16, ru, Rounding::kUp)
SMALL_CONVERSIONS(bfloat16, __nv_bfloat16, rd, Rounding::kDown)
inline __half __double2half(double a) { return __half::of(a, Rounding::kNearest); }
inline __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16::of(a, Rounding::kNearest); }
inline float __half2float(__half a) { return emulated::canonical(static_cast<float>(a.value())); }
inline float __bfloat162float(__nv_bfloat16 a) { return emulated::canonical(static_cast<float>(a.value())); }

// -- warps and blocks -------------------------------------------------------------------------------------------------
template <class Value>
u64 as_bits(Value value) {
  u64 bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class Value>
Value from_bits(u64 bits) {
  Value value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class Value>
Value from_lane(unsigned mask, Value value, int source, int width, bool outside) {
  const auto& seen = emulated::meet_in_warp(mask, as_bits(value));
  const unsigned first = emulated::lane() & ~static_cast<unsigned>(width - 1);
  const unsigned lane =
      outside ? emulated::lane() : first + (static_cast<unsigned>(source) & static_cast<unsigned>(width - 1));
  if ((mask >> lane & 1U) == 0) std::abort();
  return from_bits<Value>(seen[lane]);
}
template <class Value>
Value __shfl_sync(unsigned mask, Value value, int source, int width = 32) {
  return from_lane(mask, value, source, width, false);
}
template <class Value>
Value __shfl_up_sync(unsigned mask, Value value, unsigned delta, int width = 32) {
  const int source = static_cast<int>(emulated::lane() & static_cast<unsigned>(width - 1)) - static_cast<int>(delta);
  return from_lane(mask, value, source, width, source < 0);
}
template <class Value>
Value __shfl_down_sync(unsigned mask, Value value, unsigned delta, int width = 32) {
  const int source = static_cast<int>(emulated::lane() & static_cast<unsigned>(width - 1)) + static_cast<int>(delta);
  return from_lane(mask, value, source, width, source >= width);
}
template <class Value>
Value __shfl_xor_sync(unsigned mask, Value value, int lanes, int width = 32) {
  const unsigned source = emulated::lane() ^ static_cast<unsigned>(lanes);
  // A lane may read from groups before its own, and keeps its value where the source is in a later one.
  const unsigned last = emulated::lane() | static_cast<unsigned>(width - 1);
  const auto& seen = emulated::meet_in_warp(mask, as_bits(value));
  const unsigned lane = source > last ? emulated::lane() : source;
  if ((mask >> lane & 1U) == 0) std::abort();
  return from_bits<Value>(seen[lane]);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const auto& seen = emulated::meet_in_warp(mask, predicate != 0 ? 1 : 0);
  unsigned result = 0;
  for (unsigned lane = 0; lane < 32; ++lane) result |= static_cast<unsigned>(seen[lane] & (mask >> lane & 1U)) << lane;
  return result;
}
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) == mask ? 1 : 0; }
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0 ? 1 : 0; }
inline void __syncwarp(unsigned mask = 0xffffffff) { emulated::meet_in_warp(mask, 0); }
template <class Value>
unsigned __match_any_sync(unsigned mask, Value value) {
  const auto& seen = emulated::meet_in_warp(mask, as_bits(value));
  unsigned result = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1U) != 0 && seen[lane] == as_bits(value)) result |= 1U << lane;
  }
  return result;
}
template <class Value>
unsigned __match_all_sync(unsigned mask, Value value, int* predicate) {
  const bool all = __match_any_sync(mask, value) == mask;
  *predicate = all ? 1 : 0;
  return all ? mask : 0;
}
template <class Value, class Function>
Value over_lanes(unsigned mask, Value value, Function function) {
  const auto& seen = emulated::meet_in_warp(mask, as_bits(value));
  bool first = true;
  Value result = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1U) == 0) continue;
    result = first ? from_bits<Value>(seen[lane]) : function(result, from_bits<Value>(seen[lane]));
    first = false;
  }
  return result;
}
// The generator's own names: CUDA has them from sm_80 on, and the source makes them of shuffles below.
template <class Value>
Value reduced_add(unsigned mask, Value value) {
  return over_lanes(mask, value,
                    [](Value a, Value b) { return static_cast<Value>(static_cast<u32>(a) + static_cast<u32>(b)); });
}
template <class Value>
Value reduced_min(unsigned mask, Value value) {
  return over_lanes(mask, value, [](Value a, Value b) { return b < a ? b : a; });
}
template <class Value>
Value reduced_max(unsigned mask, Value value) {
  return over_lanes(mask, value, [](Value a, Value b) { return a < b ? b : a; });
}
inline u32 reduced_and(unsigned mask, u32 value) {
  return over_lanes(mask, value, [](u32 a, u32 b) { return a & b; });
}
inline u32 reduced_or(unsigned mask, u32 value) {
  return over_lanes(mask, value, [](u32 a, u32 b) { return a | b; });
}
inline u32 reduced_xor(unsigned mask, u32 value) {
  return over_lanes(mask, value, [](u32 a, u32 b) { return a ^ b; });
}
inline void __syncthreads() { emulated::meet_in_block(0); }
inline int __syncthreads_count(int predicate) {
  int count = 0;
  for (const u64 one : emulated::meet_in_block(predicate != 0 ? 1 : 0)) count += static_cast<int>(one);
  return count;
}
inline int __syncthreads_and(int predicate) { return __syncthreads_count(predicate == 0 ? 1 : 0) == 0 ? 1 : 0; }
inline int __syncthreads_or(int predicate) { return __syncthreads_count(predicate) != 0 ? 1 : 0; }
inline void __threadfence() {}
inline void __threadfence_block() {}

// -- memory -----------------------------------------------------------------------------------------------------------
template <class Value, class Function>
Value changed(Value* place, Function function) {
  const Value old = *place;
  *place = function(old);
  return old;
}
template <class Value, class Other>
Value atomicAdd(Value* place, Other by) {
  if constexpr (std::is_integral_v<Value>) {
    using Unsigned = std::make_unsigned_t<Value>;
    return changed(
        place, [&](Value old) { return static_cast<Value>(static_cast<Unsigned>(old) + static_cast<Unsigned>(by)); });
  } else {
    return changed(place, [&](Value old) { return emulated::add(old, static_cast<Value>(by), Rounding::kNearest); });
  }
}
inline u32 atomicSub(u32* place, u32 by) {
  return changed(place, [&](u32 old) { return old - by; });
}
inline u32 atomicExch(u32* place, u32 value) {
  return changed(place, [&](u32) { return value; });
}
inline u64 atomicExch(u64* place, u64 value) {
  return changed(place, [&](u64) { return value; });
}
inline float atomicExch(float* place, float value) {
  return changed(place, [&](float) { return value; });
}
template <class Value, class Other>
Value atomicMin(Value* place, Other other) {
  return changed(place, [&](Value old) { return std::min(old, static_cast<Value>(other)); });
}
template <class Value, class Other>
Value atomicMax(Value* place, Other other) {
  return changed(place, [&](Value old) { return std::max(old, static_cast<Value>(other)); });
}
template <class Value, class Other>
Value atomicAnd(Value* place, Other other) {
  return changed(place, [&](Value old) { return static_cast<Value>(old & other); });
}
template <class Value, class Other>
Value atomicOr(Value* place, Other other) {
  return changed(place, [&](Value old) { return static_cast<Value>(old | other); });
}
template <class Value, class Other>
Value atomicXor(Value* place, Other other) {
  return changed(place, [&](Value old) { return static_cast<Value>(old ^ other); });
}
inline u32 atomicInc(u32* place, u32 last) {
  return changed(place, [&](u32 old) { return old >= last ? 0 : old + 1; });
}
inline u32 atomicDec(u32* place, u32 last) {
  return changed(place, [&](u32 old) { return old == 0 || old > last ? last : old - 1; });
}
template <class Value>
Value atomicCAS(Value* place, Value expected, Value value) {
  return changed(place, [&](Value old) { return old == expected ? value : old; });
}
template <class Value>
Value __ldg(const Value* place) {
  return *place;
}
template <class Value>
Value __ldcg(const Value* place) {
  return *place;
}
template <class Value>
Value __ldcs(const Value* place) {
  return *place;
}
template <class Value>
void __stcg(Value* place, Value value) {
  *place = value;
}
struct alignas(8) uint2 {
  u32 x, y;
};
struct alignas(16) uint4 {
  u32 x, y, z, w;
};
struct alignas(16) ulonglong2 {
  u64 x, y;
};
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};
struct alignas(4) short2 {
  short x, y;
};
struct alignas(4) ushort2 {
  unsigned short x, y;
};
struct alignas(8) ushort4 {
  unsigned short x, y, z, w;
};

#include "ptx_emulated.hpp"
