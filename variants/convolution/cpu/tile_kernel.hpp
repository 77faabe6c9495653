// The products of tiles of bf16 parts: which parts are multiplied, in which order, and the loop over the taps of a
// panel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "variants/convolution/cpu/bfloat16_parts.hpp"
#include "variants/convolution/cpu/tile_instructions.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

/// Numbers of a float's parts, by decreasing size.
inline constexpr int kHigh = 0;
inline constexpr int kMiddle = 1;
inline constexpr int kLow = 2;

/// The numbers of a weight's and a pixel's part that are multiplied.
struct PartProduct {
  int weight;
  int pixel;
};

/// The products in order: each shares a factor with the one before, and the smallest come first.
template <PartProducts kProducts>
constexpr auto product_order() {
  using enum PartProducts;
  if constexpr (kProducts == six) {
    return std::array{PartProduct{kLow, kHigh},      PartProduct{kHigh, kHigh},   PartProduct{kMiddle, kHigh},
                      PartProduct{kMiddle, kMiddle}, PartProduct{kHigh, kMiddle}, PartProduct{kHigh, kLow}};
  } else {
    return std::array{PartProduct{kMiddle, kHigh}, PartProduct{kHigh, kHigh}, PartProduct{kHigh, kMiddle}};
  }
}

/// Where a tile of sums is loaded from and stored to.
struct TileOfSums {
  const float* from;       ///< sums of the previous taps; rows lie one behind the other
  float* to;               ///< where they go after the panel's taps
  std::int64_t row_bytes;  ///< from one row to the next in `to`
};

/// One tile of maps by up to three of pixels, or two by up to two, over the taps of a panel.
struct BlockOfTiles {
  static constexpr int kMostMaps = 2;
  static constexpr int kMostPixels = 3;

  const std::uint32_t* weights[kMostMaps];
  const std::uint32_t* pixels[kMostPixels];
  TileOfSums sums[kMostMaps][kMostPixels];
  int steps;
  bool is_first;  ///< whether the sums begin with this panel
};

template <typename Tiles, int kMaps, int kPixels, PartProducts kProducts>
struct TileKernel {
  // Tile registers: the sums of maps m and pixels p in kPixels * m + p, then the weights, then the pixels. A product's
  // latency is three to four times the interval at which products can start: with three or four sums in turn none waits
  // for the previous one.
  static constexpr int kWeights = kMaps * kPixels;
  static constexpr int kPixelTiles = kWeights + kMaps;
  static_assert(kPixelTiles + kPixels <= kTileRegisters);
  static constexpr auto kOrder = product_order<kProducts>();

  /// A function of its own, so that no store of its inputs is moved behind it.
  [[gnu::noinline]] static void run(Tiles& tiles, const BlockOfTiles& block) {
    for_sums([&]<int m, int p>() {
      if (block.is_first) {
        tiles.template clear<kPixels * m + p>();
      } else {
        tiles.template load<kPixels * m + p>(block.sums[m][p].from);
      }
    });
    for (int step = 0; step < block.steps; ++step) {
      const std::ptrdiff_t at = std::ptrdiff_t{step} * part_count(kProducts) * kTileWords;
      add_products(tiles, block, at, std::make_integer_sequence<int, static_cast<int>(kOrder.size())>());
    }
    for_sums([&]<int m, int p>() {
      tiles.template store<kPixels * m + p>(block.sums[m][p].to, block.sums[m][p].row_bytes);
    });
  }

 private:
  template <typename Body>
  [[gnu::always_inline]] static void for_sums(const Body& body) {
    for_tiles<kMaps>([&]<int m>() { for_tiles<kPixels>([&]<int p>() { body.template operator()<m, p>(); }); });
  }
  template <int kCount, int kFirst = 0, typename Body>
  [[gnu::always_inline]] static void for_tiles(const Body& body) {
    body.template operator()<kFirst>();
    if constexpr (kFirst + 1 < kCount) for_tiles<kCount, kFirst + 1>(body);
  }

  template <int... kNumbers>
  [[gnu::always_inline]] static void add_products(Tiles& tiles, const BlockOfTiles& block, std::ptrdiff_t at,
                                                  std::integer_sequence<int, kNumbers...> /*numbers*/) {
    (add_product<kNumbers>(tiles, block, at), ...);
  }

  template <int kNumber>
  [[gnu::always_inline]] static void add_product(Tiles& tiles, const BlockOfTiles& block, std::ptrdiff_t at) {
    constexpr PartProduct now = kOrder[kNumber];
    constexpr PartProduct before = kNumber > 0 ? kOrder[kNumber - 1] : PartProduct{-1, -1};
    if constexpr (now.weight != before.weight) {
      const std::ptrdiff_t of_part = at + now.weight * kTileWords;
      for_tiles<kMaps>([&]<int m>() { tiles.template load<kWeights + m>(block.weights[m] + of_part); });
    }
    if constexpr (now.pixel != before.pixel) {
      const std::ptrdiff_t of_part = at + now.pixel * kTileWords;
      for_tiles<kPixels>([&]<int p>() { tiles.template load<kPixelTiles + p>(block.pixels[p] + of_part); });
    }
    for_sums([&]<int m, int p>() { tiles.template multiply<kPixels * m + p, kWeights + m, kPixelTiles + p>(); });
  }
};

template <typename Tiles, int kMaps, int kPixels>
void multiply(Tiles& tiles, const BlockOfTiles& block, PartProducts products) {
  switch (products) {
    case PartProducts::three:
      return TileKernel<Tiles, kMaps, kPixels, PartProducts::three>::run(tiles, block);
    case PartProducts::six:
      return TileKernel<Tiles, kMaps, kPixels, PartProducts::six>::run(tiles, block);
  }
}

/// Multiplies a block; `pixels` is up to three with one tile of maps, and up to two with two.
template <typename Tiles>
void multiply(Tiles& tiles, const BlockOfTiles& block, int maps, int pixels, PartProducts products) {
  if (maps == 1) return with_constant<3>(pixels, [&](auto p) { multiply<Tiles, 1, p>(tiles, block, products); });
  with_constant<2>(pixels, [&](auto p) { multiply<Tiles, 2, p>(tiles, block, products); });
}

}  // namespace convladder
