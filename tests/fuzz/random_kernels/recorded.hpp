// What a kernel has to write: each word exactly, or between two bounds where its value is an approximation.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "arithmetic.hpp"
#include "threads.hpp"

namespace emulated {

enum class Word : std::uint64_t { kExact, kFloat, kSecondHalf, kDouble };

struct Expected {
  Word word = Word::kExact;
  std::uint64_t low = 0, high = 0;
};

inline std::vector<Expected> expected;
struct Bounds {
  double low, high;  ///< both NaN: NaN and nothing else
};

inline void near(std::size_t index, Bounds bounds) {
  expected[index] = {Word::kFloat, std::bit_cast<std::uint64_t>(bounds.low), std::bit_cast<std::uint64_t>(bounds.high)};
}
/// Of a double: its upper half is `further` words behind the lower one.
inline void near_double(std::size_t index, std::size_t further, Bounds bounds) {
  near(index, bounds);
  expected[index].word = Word::kDouble;
  expected[index + further].word = Word::kSecondHalf;
}

inline Bounds anything() {
  const double infinity = std::numeric_limits<double>::infinity();
  return {infinity, -infinity};
}

/// `exact` with an error of `relative` and of `absolute`, and half a unit in the last place for the rounding.
inline Bounds about(long double exact, long double relative, long double absolute, int precision = 24) {
  if (exact != exact) return {not_a_number(), not_a_number()};
  const bool wide = precision == 53;
  const int least = wide ? -1022 : -126;
  const long double largest = wide ? static_cast<long double>(std::numeric_limits<double>::max())
                                   : static_cast<long double>(std::numeric_limits<float>::max());
  if (std::isinf(exact)) return {static_cast<double>(exact), static_cast<double>(exact)};
  const int exponent = exact == 0 ? least : std::max(std::ilogb(exact), least);
  const long double error = relative * std::fabs(exact) + absolute + 0.51L * std::ldexp(1.0L, exponent - precision + 1);
  long double low = exact - error;
  long double high = exact + error;
  if (!wide && flushes && std::fabs(exact) < 0x1.01p-126L) {
    low = std::min(low, 0.0L);
    high = std::max(high, 0.0L);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return {std::nextafter(low < -largest ? -infinity : static_cast<double>(low), -infinity),
          std::nextafter(high > largest ? infinity : static_cast<double>(high), infinity)};
}

/// Within so many units in the last place.
inline Bounds ulps(long double exact, double count, int precision = 24) {
  const int least = precision == 53 ? -1022 : -126;
  const bool plain = exact == exact && !std::isinf(exact) && exact != 0;
  const int exponent = plain ? std::max(std::ilogb(exact), least) : least;
  return about(exact, 0, count * std::ldexp(1.0L, exponent - precision + 1), precision);
}

// Bounds from the PTX ISA, 9.7.3, for the instructions, and from the CUDA C++ programming guide's chapter on
// mathematical functions. A fast program has no bound for the latter, since it takes the former.
inline Bounds sine(long double exact, float x) {
  const double size = std::fabs(x);
  if (!(size <= std::numeric_limits<float>::max())) return {not_a_number(), not_a_number()};
  if (size <= 6.2831853) return about(exact, 0, std::exp2(-20.5));
  if (size <= 314.15926) return about(exact, 0, std::exp2(-14.7));
  return {-1.01, 1.01};
}
inline long double logarithm(float x) {
  return x < 0 ? static_cast<long double>(not_a_number()) : std::log2(static_cast<long double>(x));
}
inline Bounds by_logarithm(long double exact, float x, double absolute, double units) {
  return x >= 0.5F && x <= 2 ? about(exact, 0, absolute) : ulps(exact, units);
}

#define ONE(name, ...)                                                                 \
  inline Bounds name([[maybe_unused]] float given_x, [[maybe_unused]] float given_y) { \
    const float x = flushed(given_x);                                                  \
    const float y = flushed(given_y);                                                  \
    const long double a = x;                                                           \
    const long double b = y;                                                           \
    static_cast<void>(a);                                                              \
    static_cast<void>(b);                                                              \
    return __VA_ARGS__;                                                                \
  }
#define SLOW(name, exact, count) ONE(name, flushes ? anything() : ulps(exact, count))
ONE(near_sin, sine(std::sin(a), x))
ONE(near_cos, sine(std::cos(a), x))
ONE(near_exp2, ulps(std::exp2(a), 2))
ONE(near_log2, x >= 0.5F && x <= 2 ? about(logarithm(x), 0, std::exp2(-22)) : about(logarithm(x), std::exp2(-22), 0))
ONE(near_reciprocal, ulps(1 / a, 1))
ONE(near_root, about(std::sqrt(a), std::exp2(-23), 0))
ONE(near_inverse_root, about(1 / std::sqrt(a), std::exp2(-22.9), 0))
/// tanh.approx has no .ftz.
inline Bounds near_tanh(float x, float) { return about(std::tanh(static_cast<long double>(x)), std::exp2(-11), 0); }
inline Bounds near_quotient(float given_x, float given_y) {
  const float x = flushed(given_x);
  const float y = flushed(given_y);
  const double size = std::fabs(y);
  const long double exact = static_cast<long double>(x) / static_cast<long double>(y);
  if (size > 0x1p126 && size <= std::numeric_limits<float>::max() && x == x) {
    if (std::isinf(x)) return {not_a_number(), not_a_number()};
    return {-0.0, 0.0};
  }
  // No bound is given for a divisor whose reciprocal is not a normal number.
  if (size != 0 && size < 0x1p-126) return anything();
  return ulps(exact, 2);
}
ONE(near_full_quotient, y != 0 && std::fabs(y) < 0x1p-126F ? anything() : ulps(a / b, 2))
ONE(near_fast_exp, ulps(std::exp(a), 2 + std::floor(std::fabs(1.173 * static_cast<double>(x)))))
ONE(near_fast_exp10, ulps(std::pow(10.0L, a), 2 + std::floor(std::fabs(2.97 * static_cast<double>(x)))))
ONE(near_fast_log, by_logarithm(logarithm(x) * std::log(2.0L), x, std::exp2(-21.41), 3))
ONE(near_fast_log2, by_logarithm(logarithm(x), x, std::exp2(-22), 2))
ONE(near_fast_log10, by_logarithm(logarithm(x) * std::log10(2.0L), x, std::exp2(-24), 3))
SLOW(near_sinf, std::sin(a), 2)
SLOW(near_cosf, std::cos(a), 2)
SLOW(near_tanf, std::tan(a), 4)
SLOW(near_expf, std::exp(a), 2)
SLOW(near_exp2f, std::exp2(a), 2)
SLOW(near_expm1f, std::expm1(a), 1)
SLOW(near_logf, std::log(a), 1)
SLOW(near_log2f, std::log2(a), 1)
SLOW(near_log10f, std::log10(a), 2)
SLOW(near_log1pf, std::log1p(a), 1)
SLOW(near_powf, std::pow(a, b), 4)
SLOW(near_sinhf, std::sinh(a), 3)
SLOW(near_coshf, std::cosh(a), 2)
SLOW(near_tanhf, std::tanh(a), 2)
SLOW(near_asinf, std::asin(a), 2)
SLOW(near_acosf, std::acos(a), 2)
SLOW(near_atanf, std::atan(a), 2)
SLOW(near_atan2f, std::atan2(a, b), 3)
SLOW(near_cbrtf, std::cbrt(a), 1)
SLOW(near_rsqrtf, 1 / std::sqrt(a), 2)
SLOW(near_hypotf, std::hypot(a, b), 3)
SLOW(near_erff, std::erf(a), 2)
SLOW(near_erfcf, std::erfc(a), 4)

#define WIDE(name, exact, count)                                        \
  inline Bounds name(double given_x, [[maybe_unused]] double given_y) { \
    const long double a = given_x;                                      \
    const long double b = given_y;                                      \
    static_cast<void>(b);                                               \
    return ulps(exact, count, 53);                                      \
  }
WIDE(near_wide_sin, std::sin(a), 2)
WIDE(near_wide_cos, std::cos(a), 2)
WIDE(near_wide_exp, std::exp(a), 1)
WIDE(near_wide_log, std::log(a), 1)
WIDE(near_wide_cbrt, std::cbrt(a), 1)
WIDE(near_wide_pow, std::pow(a, b), 2)
WIDE(near_wide_atan, std::atan(a), 2)
WIDE(near_wide_tanh, std::tanh(a), 2)
WIDE(near_wide_rsqrt, 1 / std::sqrt(a), 1)

struct Kernel {
  std::string name;
  void (*function)(const unsigned*, unsigned*);
};

/// Arguments: architecture, 1 for -use_fast_math, blocks, threads of a block, words of the output, the input's file,
/// and the folder for what is expected of each kernel: three words of 64 bits for each word of the output.
inline int run(int count, char** arguments, std::initializer_list<Kernel> kernels) {
  if (count != 8) return 2;
  architecture = std::atoi(arguments[1]);
  flushes = std::atoi(arguments[2]) != 0;
  const std::size_t words = std::strtoul(arguments[5], nullptr, 10);
  std::ifstream file(arguments[6], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<unsigned long long> in(bytes.size() / 8);  // aligned as a GPU's memory
  std::memcpy(in.data(), bytes.data(), bytes.size());
  for (const Kernel& kernel : kernels) {
    std::vector<unsigned long long> out(words / 2 + 1);
    expected.assign(words, {});
    auto* first = reinterpret_cast<unsigned*>(out.data());
    launch(static_cast<unsigned>(std::atoi(arguments[3])), static_cast<unsigned>(std::atoi(arguments[4])),
           [&] { kernel.function(reinterpret_cast<const unsigned*>(in.data()), first); });
    for (std::size_t i = 0; i < words; ++i) {
      if (expected[i].word == Word::kExact) expected[i].low = first[i];
    }
    std::ofstream(std::string(arguments[7]) + "/" + kernel.name + ".expected", std::ios::binary)
        .write(reinterpret_cast<const char*>(expected.data()),
               static_cast<std::streamsize>(expected.size() * sizeof(Expected)));
  }
  return 0;
}

}  // namespace emulated
