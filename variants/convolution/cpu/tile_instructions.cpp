#include "variants/convolution/cpu/tile_instructions.hpp"

#include <atomic>
#include <bit>
#include <cmath>

#include "variants/vector_lanes.hpp"

namespace convladder {
namespace {

std::atomic<std::int64_t> emulated_products{0};

constexpr float kLeastNormal = 0x1p-126F;

[[gnu::always_inline]] inline float without_denormal(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7f800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U) : value;
}

/// a * b + c if the usual result is the least normal number: it may have been rounded up from a number that is denormal
/// in 24 bits, and then counts as denormal. The product of two bf16 numbers is exact in float64. So is the sum, since c
/// is a multiple of 2^-149, unless the product is too small to bring it near the border.
float least_normal_or_zero(float a, float b, float c, float usual) {
  constexpr double kBorder = 0x1p-126 * (1 - 0x1p-25);  // from here on, numbers are rounded up to the least normal one
  const double sum = double{a} * double{b} + double{c};
  return std::abs(sum) < kBorder ? std::copysign(0.0F, usual) : usual;
}

/// Both chains of multiply-adds of the 16 sums of a row.
struct RowOfSums {
  template <typename Set>
  static void run(float* const& sums, const std::uint32_t* const& left, const std::uint32_t* const& right) {
    float even[kTileRows] = {};
    float odd[kTileRows] = {};
    for (int k = 0; k < kTileRows; ++k) {
      const std::uint32_t* const pairs = right + k * kTileRows;
      add_products<0>(left[k], pairs, even);
      add_products<1>(left[k], pairs, odd);
    }
    for (int n = 0; n < kTileRows; ++n) {
      // A denormal sum of two floats is exact.
      const float both = without_denormal(even[n] + odd[n]);
      sums[n] = without_denormal(without_denormal(sums[n]) + both);
    }
  }

 private:
  template <int kOfPair>
  [[gnu::always_inline]] static void add_products(std::uint32_t left, const std::uint32_t* pairs, float* chain) {
    const float weight = number<kOfPair>(left);
    bool any_at_border = false;
    float usual[kTileRows];
    for (int n = 0; n < kTileRows; ++n) {
      usual[n] = __builtin_fmaf(weight, number<kOfPair>(pairs[n]), chain[n]);
      any_at_border |= std::abs(usual[n]) == kLeastNormal;
    }
    if (any_at_border) {
      for (int n = 0; n < kTileRows; ++n) {
        if (std::abs(usual[n]) != kLeastNormal) continue;
        usual[n] = least_normal_or_zero(weight, number<kOfPair>(pairs[n]), chain[n], usual[n]);
      }
    }
    for (int n = 0; n < kTileRows; ++n) chain[n] = without_denormal(usual[n]);
  }

  template <int kOfPair>
  [[gnu::always_inline]] static float number(std::uint32_t pair) {
    return without_denormal(std::bit_cast<float>(kOfPair == 0 ? pair << 16U : pair & 0xffff0000U));
  }
};

struct TileProduct {
  template <typename Set>
  static void run(float* const& sums, const std::uint32_t* const& left, const std::uint32_t* const& right) {
    for (int row = 0; row < kTileRows; ++row) {
      RowOfSums::run<Set>(sums + row * kTileRows, left + row * kTileRows, right);
    }
  }
};

}  // namespace

void emulate_tile_product(float* sums, const std::uint32_t* left, const std::uint32_t* right) {
  static const InstructionSet::Kind set = chosen_instruction_set().kind;
  run_with<TileProduct>(set, sums, left, right);
}

std::int64_t emulated_tile_products() { return emulated_products; }

EmulatedTiles::~EmulatedTiles() { emulated_products += products_; }

}  // namespace convladder
