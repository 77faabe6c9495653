// From random bits to numbers of a distribution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace convladder::stand_in::curand {

inline constexpr float kOf32Bits = 0x1p-32F;
inline constexpr double kOf53Bits = 0x1p-53;

/// In (0, 1].
inline float uniform_float(std::uint32_t word) { return static_cast<float>(word) * kOf32Bits + kOf32Bits / 2; }
/// In (0, 2 pi].
inline float uniform_angle(std::uint32_t word) {
  constexpr float kOfBit = kOf32Bits * (2 * std::numbers::pi_v<float>);
  return static_cast<float>(word) * kOfBit + kOfBit / 2;
}
/// 53 bits, of which `high` has the upper 32; in (0, 1].
inline double uniform_double(std::uint32_t low, std::uint32_t high) {
  const std::uint64_t bits = low ^ (static_cast<std::uint64_t>(high) << 21);
  return static_cast<double>(bits) * kOf53Bits + kOf53Bits / 2;
}
/// 32 bits; in (0, 1].
inline double uniform_double(std::uint32_t word) { return static_cast<double>(word) * 0x1p-32 + 0x1p-33; }

template <typename Real>
struct Pair {
  Real first;
  Real second;
};

/// Two independent numbers of the standard normal distribution from a uniform one in (0, 1] and an angle (Box and
/// Muller, 1958).
Pair<float> box_muller(float uniform, float angle);
Pair<double> box_muller(double uniform, double angle);

/// The number below which a standard normal one is with this probability (Wichura, 1988: algorithm AS 241).
double inverse_normal(double probability);
/// Those numbers from random bits.
float normal_float(std::uint32_t word);
double normal_double(std::uint32_t word);
double normal_double(std::uint64_t word);

/// Poisson's distribution by looking its sums up.
class Poisson {
 public:
  /// Throws std::invalid_argument for a mean that is not in (0, 2^31].
  explicit Poisson(double mean);
  /// The number at a probability in [0, 1).
  std::uint32_t at(double probability) const;

 private:
  std::uint32_t first_ = 0;   // the number of the first sum
  std::vector<double> sums_;  // the probabilities of at most so many
};

}  // namespace convladder::stand_in::curand
