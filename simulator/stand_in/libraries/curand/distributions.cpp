#include "simulator/stand_in/libraries/curand/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace convladder::stand_in::curand {
namespace {

/// The quotient of two polynomials of degree 7, whose coefficients begin with the constant.
double ratio(const double (&above)[8], const double (&below)[8], double x) {
  double top = 0;
  double bottom = 0;
  for (int i = 7; i >= 0; --i) {
    top = top * x + above[i];
    bottom = bottom * x + below[i];
  }
  return top / bottom;
}

template <typename Real>
Pair<Real> polar(Real uniform, Real angle) {
  const Real radius = std::sqrt(Real(-2) * std::log(uniform));
  return {radius * std::sin(angle), radius * std::cos(angle)};
}

}  // namespace

Pair<float> box_muller(float uniform, float angle) { return polar(uniform, angle); }
Pair<double> box_muller(double uniform, double angle) { return polar(uniform, angle); }

double inverse_normal(double probability) {
  // The coefficients of AS 241's PPND16, as published.
  static constexpr double kA[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                  1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                  3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double kB[] = {1.0,
                                  4.2313330701600911252e+1,
                                  6.8718700749205790830e+2,
                                  5.3941960214247511077e+3,
                                  2.1213794301586595867e+4,
                                  3.9307895800092710610e+4,
                                  2.8729085735721942674e+4,
                                  5.2264952788528545610e+3};
  static constexpr double kC[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                  3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                  2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kD[] = {1.0,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  static constexpr double kE[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                  2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kF[] = {1.0,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  const double q = probability - 0.5;
  if (std::abs(q) <= 0.425) return q * ratio(kA, kB, 0.180625 - q * q);
  const double r = std::sqrt(-std::log(q < 0 ? probability : 1 - probability));
  const double magnitude = r <= 5 ? ratio(kC, kD, r - 1.6) : ratio(kE, kF, r - 5);
  return q < 0 ? -magnitude : magnitude;
}

// Both halves are taken from the lower one, where small probabilities are exact.
float normal_float(std::uint32_t word) {
  const bool is_upper = word > 0x80000000U;
  const float lower = uniform_float(is_upper ? ~word : word);
  const auto value = static_cast<float>(inverse_normal(lower));
  return is_upper ? -value : value;
}

double normal_double(std::uint32_t word) {
  const bool is_upper = word > 0x80000000U;
  const double value = inverse_normal(uniform_double(is_upper ? ~word : word));
  return is_upper ? -value : value;
}

double normal_double(std::uint64_t word) {
  const bool is_upper = (word >> 63U) != 0;
  const double value =
      inverse_normal(static_cast<double>((is_upper ? ~word : word) >> 11U) * kOf53Bits + kOf53Bits / 2);
  return is_upper ? -value : value;
}

Poisson::Poisson(double mean) {
  if (!(mean > 0 && mean <= 0x1p31)) throw std::invalid_argument("the mean of Poisson's distribution");
  // Twelve deviations to either side: what is beyond has less than 2^-53 of the probability for large means, and a few
  // numbers more do it for small ones.
  const double around = 12 * std::sqrt(mean);
  first_ = static_cast<std::uint32_t>(std::max(0.0, std::floor(mean - around)));
  const auto last = static_cast<std::uint32_t>(mean + around + 40);
  const double log_mean = std::log(mean);
  sums_.reserve(last - first_ + 1);
  double sum = 0;
  for (std::uint32_t number = first_; number <= last; ++number) {
    sum += std::exp(number * log_mean - mean - std::lgamma(number + 1.0));
    sums_.push_back(sum);
  }
  // For large means the logarithms above are off by more than the sum may be.
  for (double& one : sums_) one /= sum;
}

std::uint32_t Poisson::at(double probability) const {
  const auto found = std::upper_bound(sums_.begin(), sums_.end() - 1, probability);
  return first_ + static_cast<std::uint32_t>(found - sums_.begin());
}

}  // namespace convladder::stand_in::curand
