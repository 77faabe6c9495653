// Conversions to and from floating point types of 8 bits and less, two at a time, and from float to the scales of
// matrices, .ue8m0 (PTX ISA 9.0, 9.7.9.21: cvt).

#include <cmath>

#include "simulator/instructions/arithmetic/lane_functions.hpp"
#include "support/narrow_float.hpp"

namespace convladder::simulated {
namespace {

constexpr std::uint16_t kNanHalf = 0x7fff;

/// Two numbers of the format: one from bit 0 on, the other from bit 8 on, or from bit 4 on in formats of 4 bits.
template <const NarrowFormat& kFormat>
struct NarrowPair {
  static constexpr int kShift = kFormat.bits() == 4 ? 4 : 8;
  explicit NarrowPair(std::int64_t parameter) : rectify(parameter != 0) {}
  std::uint16_t of(double low, double high) const {
    return static_cast<std::uint16_t>(one(low) | (one(high) << kShift));
  }
  unsigned one(double value) const { return narrow_bits(kFormat, rectify && value <= 0 ? 0.0 : value); }
  bool rectify;  // .relu
};

/// cvt.rn.satfinite.e4m3x2.f32 d, a, b: a becomes the upper number.
template <const NarrowFormat& kFormat>
struct FromSingles : NarrowPair<kFormat> {
  using NarrowPair<kFormat>::NarrowPair;
  std::uint16_t apply(float high, float low) const { return this->of(low, high); }
};
template <const NarrowFormat& kFormat>
struct FromHalves : NarrowPair<kFormat> {
  using NarrowPair<kFormat>::NarrowPair;
  std::uint16_t apply(Pair<Half> from) const { return this->of(to_float(from.low()), to_float(from.high())); }
};
template <const NarrowFormat& kFormat>
struct ToHalves {
  explicit ToHalves(std::int64_t parameter) : rectify(parameter != 0) {}
  Pair<Half> apply(std::uint16_t from) const {
    return Pair<Half>::of(one(from), one(static_cast<unsigned>(from) >> NarrowPair<kFormat>::kShift));
  }
  Half one(unsigned bits) const {
    const double value = narrow_value(kFormat, bits);
    if (value != value) return {kNanHalf};
    return round_to<Half>(rectify && value <= 0 ? 0.0 : value);
  }
  bool rectify;
};

template <const NarrowFormat& kFormat>
void add_narrow(FormTable& table, bool from_halves) {
  using Bits = std::uint16_t;
  for (const char* rectified : {".satfinite", ".satfinite.relu", ".relu.satfinite"}) {
    const std::int64_t rectify = std::string_view(rectified) == ".satfinite" ? 0 : 1;
    add_parameterized_form<FromSingles<kFormat>, Bits, float, float>(
        table, fmt::format("cvt.rn{}.{}x2.f32", rectified, kFormat.suffix), rectify);
    if (!from_halves) continue;
    add_parameterized_form<FromHalves<kFormat>, Bits, Pair<Half>>(
        table, fmt::format("cvt.rn{}.{}x2.f16x2", rectified, kFormat.suffix), rectify);
  }
  for (const bool rectify : {false, true}) {
    add_parameterized_form<ToHalves<kFormat>, Pair<Half>, Bits>(
        table, fmt::format("cvt.rn{}.f16x2.{}x2", rectify ? ".relu" : "", kFormat.suffix), rectify ? 1 : 0);
  }
}

// --- scales ---------------------------------------------------------------------------------------------------------

/// .ue8m0: a power of two from 2^-127 (0) to 2^127 (254); 255 is NaN. Signs are ignored. A number beyond the largest
/// power becomes NaN, or with .satfinite the largest power.
struct Scale {
  explicit Scale(std::int64_t parameter) : up((parameter & 1) != 0), finite((parameter & 2) != 0) {}
  unsigned one(float value) const {
    constexpr unsigned kNan = 255;
    constexpr unsigned kMost = 254;
    if (value != value) return kNan;
    const auto magnitude = std::bit_cast<std::uint32_t>(std::abs(value));
    unsigned exponent = magnitude >> 23;
    const unsigned fraction = magnitude & 0x7fffffU;
    if (exponent == 0) {  // 2^-127, the least scale, is a subnormal number
      constexpr unsigned kLeast = 0x400000;
      exponent = up && fraction > kLeast ? 1 : 0;
    } else if (up && fraction != 0) {
      ++exponent;
    }
    return exponent <= kMost ? exponent : finite ? kMost : kNan;
  }
  bool up;  // .rp; .rz otherwise
  bool finite;
};
struct ScalesFromSingles : Scale {
  using Scale::Scale;
  std::uint16_t apply(float high, float low) const { return static_cast<std::uint16_t>(one(low) | (one(high) << 8)); }
};
struct ScalesFromBfloats : Scale {
  using Scale::Scale;
  std::uint16_t apply(Pair<Bfloat16> from) const {
    return static_cast<std::uint16_t>(one(to_float(from.low())) | (one(to_float(from.high())) << 8));
  }
};
struct BfloatsFromScales {
  static Pair<Bfloat16> apply(std::uint16_t from) { return Pair<Bfloat16>::of(one(from & 0xffU), one(from >> 8)); }
  static Bfloat16 one(unsigned scale) {
    if (scale == 255) return {Bfloat16::kNan};
    return {static_cast<std::uint16_t>(scale == 0 ? 0x40 : scale << 7)};
  }
};

void add_scales(FormTable& table) {
  using Bits = std::uint16_t;
  for (const bool up : {false, true}) {
    for (const bool finite : {false, true}) {
      const std::string start = fmt::format("cvt.{}{}.ue8m0x2.", up ? "rp" : "rz", finite ? ".satfinite" : "");
      const std::int64_t parameter = (up ? 1 : 0) | (finite ? 2 : 0);
      add_parameterized_form<ScalesFromSingles, Bits, float, float>(table, start + "f32", parameter);
      add_parameterized_form<ScalesFromBfloats, Bits, Pair<Bfloat16>>(table, start + "bf16x2", parameter);
    }
  }
  add_form<BfloatsFromScales, Pair<Bfloat16>, Bits>(table, "cvt.rn.bf16x2.ue8m0x2");
}

}  // namespace

void add_narrow_conversion_forms(FormTable& table) {
  add_narrow<kFloat8E4M3>(table, true);
  add_narrow<kFloat8E5M2>(table, true);
  add_narrow<kFloat6E2M3>(table, false);
  add_narrow<kFloat6E3M2>(table, false);
  add_narrow<kFloat4E2M1>(table, false);
  add_scales(table);
}

}  // namespace convladder::simulated
