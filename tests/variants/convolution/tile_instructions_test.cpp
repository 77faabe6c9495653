// The emulation of TDPBF16PS: cases by hand, the processor's own fused multiply-adds, and AMX itself where it is.
#include "variants/convolution/cpu/tile_instructions.hpp"

#include <gtest/gtest.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "devices/cpu/tile_unit.hpp"
#include "support/half.hpp"
#include "support/seeded_random.hpp"

namespace convladder {
namespace {

using Words = std::array<std::uint32_t, kTileWords>;
using Sums = std::array<float, kTileWords>;

std::uint32_t bfloat16(double value) {
  const std::uint32_t bits = simulated::round_to<simulated::Bfloat16>(value).bits;
  EXPECT_EQ(double{std::bit_cast<float>(bits << 16U)}, value) << "no bf16 number";
  return bits;
}

struct Factors {
  double left;
  double right;
};

/// The sum of row 3, column 5, which begins with `sum`, of products in the order of the pairs: even, odd, even, ….
float sum_of(const std::vector<Factors>& products, float sum = 0) {
  Words left{};
  Words right{};
  Sums sums{};
  sums[3 * 16 + 5] = sum;
  for (std::size_t i = 0; i < products.size(); ++i) {
    left[3 * 16 + i / 2] |= bfloat16(products[i].left) << (i % 2 * 16);
    right[i / 2 * 16 + 5] |= bfloat16(products[i].right) << (i % 2 * 16);
  }
  emulate_tile_product(sums.data(), left.data(), right.data());
  const float result = sums[3 * 16 + 5];
  sums[3 * 16 + 5] = 0;
  const bool is_finite = std::ranges::all_of(products, [](const Factors& one) { return std::isfinite(one.left); });
  if (is_finite) {
    EXPECT_EQ(sums, Sums{}) << "another sum was changed";
  }
  return result;
}

constexpr Factors kNothing{0, 0};

TEST(TileProduct, IsAProductOfMatrices) {
  SeededRandom random(1, 0);
  Words left{};
  Words right{};
  double a[16][32];
  double b[32][16];
  Sums sums{};
  Sums expected{};
  for (int m = 0; m < 16; ++m) {
    for (int k = 0; k < 32; ++k) {
      a[m][k] = random.between(-100, 100);
      b[k][m] = random.between(-100, 100);
      left[m * 16 + k / 2] |= bfloat16(a[m][k]) << (k % 2 * 16);
      right[k / 2 * 16 + m] |= bfloat16(b[k][m]) << (k % 2 * 16);
    }
  }
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 16; ++n) {
      sums[m * 16 + n] = static_cast<float>(random.between(-1000, 1000));
      double sum = sums[m * 16 + n];
      for (int k = 0; k < 32; ++k) sum += a[m][k] * b[k][n];
      expected[m * 16 + n] = static_cast<float>(sum);
    }
  }
  emulate_tile_product(sums.data(), left.data(), right.data());
  EXPECT_EQ(sums, expected);
}

TEST(TileProduct, HasAChainOfTheEvenAndOneOfTheOdd) {
  // In one chain the 1 would be lost: 2^24 + 1 is a tie, and 2^24 is even.
  EXPECT_EQ(sum_of({{0x1p12, 0x1p12}, {1, 1}, {-0x1p12, 0x1p12}}), 1);
  // And is, where it is in the chain.
  EXPECT_EQ(sum_of({{0x1p12, 0x1p12}, kNothing, {1, 1}, kNothing, {-0x1p12, 0x1p12}}), 0);
  EXPECT_EQ(sum_of({kNothing, {0x1p12, 0x1p12}, kNothing, {1, 1}, kNothing, {-0x1p12, 0x1p12}}), 0);
}

TEST(TileProduct, AddsToTheSumLast) {
  EXPECT_EQ(sum_of({{1, 1}, {1, 1}}, 0x1p24F), 0x1.000002p24F) << "both ones first: one by one they are lost";
  EXPECT_EQ(sum_of({{0x1p12, 0x1p12}, kNothing, {1, 1}}, -0x1p24F), 0) << "the sum is no part of the chain";
}

TEST(TileProduct, RoundsToNearestEven) {
  EXPECT_EQ(sum_of({{0x1p12, 0x1p12}, kNothing, {3, 1}}), 0x1.000004p24F) << "2^24 + 3 is a tie";
  EXPECT_EQ(sum_of({{1, 1}}, 0x1.000002p24F), 0x1.000004p24F) << "2^24 + 2 + 1 too";
  EXPECT_EQ(sum_of({{-1, 1}}, -0x1.000002p24F), -0x1.000004p24F);
}

TEST(TileProduct, IsFused) {
  // The product alone is denormal and would be zero.
  EXPECT_EQ(sum_of({{0x1p-53, 0x1p-54}, kNothing, {0x1p-65, 0x1p-65}}), 0x1.000002p-107F);
  // The product alone would be infinite.
  EXPECT_EQ(sum_of({{-0x1p127, 0x1p0}, kNothing, {0x1p64, 0x1p64}}), 0x1p127F);
}

TEST(TileProduct, TakesDenormalsAsZero) {
  EXPECT_EQ(sum_of({{0x1p-127, 0x1p100}}), 0);
  EXPECT_EQ(sum_of({{0x1p100, 0x1p-133}}), 0);
  EXPECT_EQ(sum_of({{1, 1}}, 0x1p-130F), 1);
  EXPECT_EQ(sum_of({{0x1p-63, 0x1p-63}}, 0x1p-127F), 0x1p-126F) << "the sum's own";
  EXPECT_EQ(sum_of({}, 0x1p-127F), 0);
}

TEST(TileProduct, MakesZerosOfDenormals) {
  EXPECT_EQ(sum_of({{0x1p-64, 0x1p-63}}), 0);
  EXPECT_EQ(sum_of({{0x1p-64, 0x1p-63}, kNothing, {0x1p-64, 0x1p-63}}), 0) << "each step, not their sum";
  EXPECT_EQ(sum_of({{0x1p-63, 0x1p-63}, {-0x1.8p-63, 0x1p-63}}), 0) << "of both chains";
  EXPECT_EQ(sum_of({{-0x1.8p-63, 0x1p-63}}, 0x1p-126F), 0) << "of the last addition";
  std::vector<Factors> last(30, kNothing);
  last.insert(last.end(), 2, {-0x1p-64, 0x1p-63});
  EXPECT_TRUE(std::signbit(sum_of(last, -0.0F))) << "zeros keep their sign";
}

// Rounded to 24 bits first, as if there were smaller exponents; then it is denormal or not.
TEST(TileProduct, LooksForDenormalsAfterRounding) {
  const Factors least{0x1p-63, 0x1p-63};
  EXPECT_EQ(sum_of({least, kNothing, {-0x1p-75, 0x1p-76}}), 0x1p-126F) << "a tie between it and the least normal";
  EXPECT_EQ(sum_of({least, kNothing, {-0x1p-75, 0x1p-77}}), 0x1p-126F);
  EXPECT_EQ(sum_of({least, kNothing, {-0x1.8p-75, 0x1p-76}}), 0) << "usual rounding of denormals makes the least of it";
  EXPECT_EQ(sum_of({least, kNothing, {-0x1.02p-75, 0x1p-76}}), 0) << "just below the tie";
  EXPECT_EQ(sum_of({{-0x1p-63, 0x1p-63}, kNothing, {0x1.02p-75, 0x1p-76}}), 0);
}

TEST(TileProduct, KeepsWhatIsNoNumber) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sum_of({{kInfinity, 2}}), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(sum_of({{kInfinity, 0}})));
  EXPECT_TRUE(std::isnan(sum_of({{kInfinity, 1}, {-kInfinity, 1}})));
  EXPECT_TRUE(std::isnan(sum_of({{1, 1}}, std::nanf(""))));
}

/// Numbers whose products and sums are often denormal, or cancel.
std::uint32_t random_pair(SeededRandom& random, int middle_exponent) {
  std::uint32_t pair = 0;
  for (int of_pair = 0; of_pair < 2; ++of_pair) {
    const auto fraction = static_cast<std::uint32_t>(random.between(0, 127)) & (random.chance(50) ? 0x60U : 0x7fU);
    const auto exponent = static_cast<std::uint32_t>(middle_exponent + random.between(-6, 6)) & 0xffU;
    const std::uint32_t number = (random.chance(50) ? 0x8000U : 0U) | exponent << 7U | fraction;
    pair |= (random.chance(5) ? number & 0x807fU : number) << (of_pair * 16);
  }
  return pair;
}

struct RandomTiles {
  Words left;
  Words right;
  Sums sums;

  RandomTiles(SeededRandom& random, int exponent) {
    for (std::uint32_t& pair : left) pair = random_pair(random, exponent);
    for (std::uint32_t& pair : right) pair = random_pair(random, exponent);
    for (float& sum : sums) {
      const int of_sum = std::clamp(2 * exponent - 127 + random.between(-4, 8), 0, 254);
      const auto bits = static_cast<std::uint32_t>(random.next()) & 0x807fffffU;
      sum = std::bit_cast<float>(bits | static_cast<std::uint32_t>(of_sum) << 23U);
    }
  }
};

constexpr std::array kExponents{60, 62, 63, 64, 66, 70, 100, 127, 180};

#ifdef __x86_64__

/// By the processor, told to treat denormals as the tiles do.
class WithoutDenormals {
 public:
  WithoutDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040U); }
  ~WithoutDenormals() { _mm_setcsr(before_); }

 private:
  unsigned before_;
};

[[gnu::noinline, gnu::target("fma")]] void product_by_fma(float* sums, const std::uint32_t* left,
                                                          const std::uint32_t* right) {
  const WithoutDenormals mode;
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 16; ++n) {
      __m128 chains[2] = {_mm_setzero_ps(), _mm_setzero_ps()};
      for (int k = 0; k < 16; ++k) {
        for (int of_pair = 0; of_pair < 2; ++of_pair) {
          const unsigned up = of_pair == 0 ? 16 : 0;
          const __m128 a = _mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(left[m * 16 + k] << up & 0xffff0000U)));
          const __m128 b = _mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(right[k * 16 + n] << up & 0xffff0000U)));
          chains[of_pair] = _mm_fmadd_ss(a, b, chains[of_pair]);
        }
      }
      const __m128 both = _mm_add_ss(chains[0], chains[1]);
      _mm_store_ss(&sums[m * 16 + n], _mm_add_ss(_mm_load_ss(&sums[m * 16 + n]), both));
    }
  }
}

void expect_same_bits(const Sums& found, const Sums& expected) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(found[i]) && std::isnan(expected[i])) continue;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(found[i]), std::bit_cast<std::uint32_t>(expected[i]))
        << "sum " << i << ": " << found[i] << ", not " << expected[i];
  }
}

TEST(TileProduct, IsTheSameByTheProcessorsMultiplyAdds) {
  if (__builtin_cpu_supports("fma") == 0) GTEST_SKIP() << "this processor has no FMA";
  SeededRandom random(2, 0);
  for (const int exponent : kExponents) {
    for (int i = 0; i < 60; ++i) {
      const RandomTiles tiles(random, exponent);
      Sums found = tiles.sums;
      Sums expected = tiles.sums;
      emulate_tile_product(found.data(), tiles.left.data(), tiles.right.data());
      product_by_fma(expected.data(), tiles.left.data(), tiles.right.data());
      ASSERT_NO_FATAL_FAILURE(expect_same_bits(found, expected)) << "exponents around " << exponent;
    }
  }
}

TEST(TileProduct, IsTheSameByAmx) {
  unsetenv("CONVLADDER_AMX");
  if (tile_unit() != TileUnit::processor) GTEST_SKIP() << why_no_tile_unit();
  require_tile_unit();
  ProcessorTiles processor;
  EmulatedTiles emulated;
  SeededRandom random(3, 0);
  for (const int exponent : kExponents) {
    for (int i = 0; i < 60; ++i) {
      const RandomTiles tiles(random, exponent);
      const auto product_by = [&tiles](auto& unit) {
        Sums sums = tiles.sums;
        unit.template load<1>(sums.data());
        unit.template load<4>(tiles.left.data());
        unit.template load<7>(tiles.right.data());
        unit.template multiply<1, 4, 7>();
        unit.template store<1>(sums.data());
        return sums;
      };
      ASSERT_NO_FATAL_FAILURE(expect_same_bits(product_by(emulated), product_by(processor)))
          << "exponents around " << exponent;
    }
  }
}

#endif

TEST(TileUnit, IsEmulatedIfAskedFor) {
  setenv("CONVLADDER_AMX", "emulated", 1);
  EXPECT_EQ(tile_unit(), TileUnit::emulated);
  EXPECT_EQ(why_no_tile_unit(), "");
  setenv("CONVLADDER_AMX", "emulate", 1);
  EXPECT_EQ(tile_unit(), TileUnit::none);
  EXPECT_EQ(why_no_tile_unit(), "CONVLADDER_AMX is 'emulate', it must be emulated or not be set");
  unsetenv("CONVLADDER_AMX");
  EXPECT_NE(tile_unit(), TileUnit::emulated);
  EXPECT_EQ(why_no_tile_unit().empty(), tile_unit() == TileUnit::processor);
}

TEST(EmulatedTiles, CountTheirProducts) {
  const std::int64_t before = emulated_tile_products();
  {
    EmulatedTiles tiles;
    Sums sums{};
    Words left{};
    Words right{};
    left[0] = bfloat16(3);
    right[0] = bfloat16(5);
    tiles.clear<2>();
    tiles.load<5>(left.data());
    tiles.load<6>(right.data());
    tiles.multiply<2, 5, 6>();
    tiles.multiply<2, 5, 6>();
    tiles.store<2>(sums.data());
    EXPECT_EQ(sums[0], 30);
    tiles.clear<2>();
    tiles.store<2>(sums.data());
    EXPECT_EQ(sums[0], 0);
  }
  EXPECT_EQ(emulated_tile_products(), before + 2);
}

}  // namespace
}  // namespace convladder
