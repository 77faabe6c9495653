// exp and tanh in float32 for the operators of every family: vectorised by the host's compiler, and the same in kernels
// with nvcc and with clang, which has no library of device functions.
//
// The coefficients are minimax fits (Lawson's iteratively reweighted least squares, in float64) of 2^f on [-1/2, 1/2],
// relative error 2e-9; of (tanh(x) / x - 1) / x^2 over x^2 in [0, 0.36], error of tanh 1e-8; and of tanh(x) / x as a
// quotient of two polynomials of x^2 up to x = 8.7, relative error 1.5e-8.
#pragma once

#include <cmath>
#ifndef __CUDA_ARCH__
#include <bit>
#include <cstdint>
#endif

// nvcc and clang define different macros when they compile CUDA.
#if defined(__CUDACC__) || defined(__CUDA__)
#define CONVLADDER_HOST_DEVICE __host__ __device__
#else
#define CONVLADDER_HOST_DEVICE
#endif

namespace convladder {

/// e^x for x <= 0, with a relative error of at most 2^-22 near 0 and |x| * 2^-23 farther away; 0 from -87 on, where
/// float32 has no normal numbers left; NaN for NaN.
CONVLADDER_HOST_DEVICE inline float exponential(float x) {
  const float y = x * 1.44269504F;  // e^x = 2^y
#ifdef __CUDA_ARCH__
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(y));
  return power;
#else
  // Adding 1.5 * 2^23 leaves the nearest whole number n in the lowest bits; 2^n is n in the exponent's place.
  const float shifted = y + 12582912.0F;
  const float f = y - (shifted - 12582912.0F);
  const auto scale = std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127U) << 23U);
  float power = 0.00015478024F;
  power = power * f + 0.0013400431F;
  power = power * f + 0.009617995F;
  power = power * f + 0.05550327F;
  power = power * f + 0.24022652F;
  power = power * f + 0.6931472F;
  power = power * f + 1.0F;
  return x < -87.0F ? 0.0F : power * scale;
#endif
}

/// tanh(x), off by at most 4 units of 2^-23 of the result; +-1 for infinities, NaN for NaN.
CONVLADDER_HOST_DEVICE inline float hyperbolic_tangent(float x) {
  const float a = std::fabs(x);
  const float u = a * a;
#ifdef __CUDA_ARCH__
  float series = -0.0062836693F;
  series = series * u + 0.021121457F;
  series = series * u - 0.053876318F;
  series = series * u + 0.13332933F;
  series = series * u - 0.3333333F;
  const float small = a + a * u * series;
  const float e = exponential(-2.0F * a);
  const float large = (1.0F - e) / (1.0F + e);
  return std::copysign(a < 0.6F ? small : large, x);
#else
  // Either way there is one division; a quotient takes half as many other instructions as an exponential.
  float dividend = 1.3897615e-08F;
  dividend = dividend * u + 2.0993817e-05F;
  dividend = dividend * u + 0.003518743F;
  dividend = dividend * u + 0.13400465F;
  dividend = dividend * u + 1.0F;
  float divisor = 7.9965196e-07F;
  divisor = divisor * u + 0.00033236464F;
  divisor = divisor * u + 0.02596489F;
  divisor = divisor * u + 0.46733785F;
  divisor = divisor * u + 1.0F;
  float result = a * dividend / divisor;
  result = result > 1.0F ? 1.0F : result;
  result = a > 8.7F ? 1.0F : result;  // nearer to 1 than to any other number
  return std::copysign(result, x);
#endif
}

}  // namespace convladder
