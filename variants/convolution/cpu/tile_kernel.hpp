// The products of tiles of bf16 parts: which parts, in which order, and the loop over the taps of a panel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "variants/convolution/cpu/part_products.hpp"
#include "variants/convolution/cpu/tile_instructions.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

/// Parts of a number, by size.
inline constexpr int kHigh = 0;
inline constexpr int kMiddle = 1;
inline constexpr int kLow = 2;

/// Parts of a weight and of a pixel that are multiplied.
struct PartProduct {
  int weight;
  int pixel;
};

/// Each shares a factor with the one before, and the smallest come first.
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

/// One or two tiles of maps by one or two tiles of pixels, over the taps of a panel.
struct BlockOfTiles {
  const std::uint32_t* weights[2];
  const std::uint32_t* pixels[2];
  float* sums[2][2];
  int steps;
  bool is_first;  ///< whether the sums begin here
};

template <typename Tiles, int kMaps, int kPixels, PartProducts kProducts>
struct TileKernel {
  // Registers: the sums of maps m and pixels p in 2m + p, then weights, then pixels.
  static constexpr int kWeights = 4;
  static constexpr int kPixelTiles = 6;
  static constexpr auto kOrder = product_order<kProducts>();

  /// By itself, so that no store of what it reads is moved behind it.
  [[gnu::noinline]] static void run(Tiles& tiles, const BlockOfTiles& block) {
    for_sums([&]<int m, int p>() {
      if (block.is_first) {
        tiles.template clear<2 * m + p>();
      } else {
        tiles.template load<2 * m + p>(block.sums[m][p]);
      }
    });
    for (int step = 0; step < block.steps; ++step) {
      const std::ptrdiff_t at = std::ptrdiff_t{step} * part_count(kProducts) * kTileWords;
      add_products(tiles, block, at, std::make_integer_sequence<int, static_cast<int>(kOrder.size())>());
    }
    for_sums([&]<int m, int p>() { tiles.template store<2 * m + p>(block.sums[m][p]); });
  }

 private:
  template <typename Body>
  [[gnu::always_inline]] static void for_sums(const Body& body) {
    body.template operator()<0, 0>();
    if constexpr (kPixels > 1) body.template operator()<0, 1>();
    if constexpr (kMaps > 1) body.template operator()<1, 0>();
    if constexpr (kMaps > 1 && kPixels > 1) body.template operator()<1, 1>();
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
      tiles.template load<kWeights>(block.weights[0] + at + now.weight * kTileWords);
      if constexpr (kMaps > 1) tiles.template load<kWeights + 1>(block.weights[1] + at + now.weight * kTileWords);
    }
    if constexpr (now.pixel != before.pixel) {
      constexpr std::int64_t kPitch = part_count(kProducts) * kTileRowBytes;
      tiles.template load<kPixelTiles>(block.pixels[0] + at + now.pixel * kTileRows, kPitch);
      if constexpr (kPixels > 1) {
        tiles.template load<kPixelTiles + 1>(block.pixels[1] + at + now.pixel * kTileRows, kPitch);
      }
    }
    for_sums([&]<int m, int p>() { tiles.template multiply<2 * m + p, kWeights + m, kPixelTiles + p>(); });
  }
};

template <typename Tiles>
void multiply(Tiles& tiles, const BlockOfTiles& block, int maps, int pixels, PartProducts products) {
  with_constant<2>(maps, [&](auto m) {
    with_constant<2>(pixels, [&](auto p) {
      switch (products) {
        case PartProducts::three:
          return TileKernel<Tiles, m, p, PartProducts::three>::run(tiles, block);
        case PartProducts::six:
          return TileKernel<Tiles, m, p, PartProducts::six>::run(tiles, block);
      }
    });
  });
}

}  // namespace convladder
