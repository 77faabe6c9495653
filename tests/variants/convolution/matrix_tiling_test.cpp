// The host's side of the matrix products: which tiles a layer gets, the table of taps and the order of the weights.
#if CONVLADDER_HAS_CUDA_FAMILY

#include "variants/convolution/cuda/matrix_tiling.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace convladder {
namespace {

constexpr MatrixTileSize kMatrixSizes[] = {{64, 128}, {64, 64}, {32, 128}, {32, 64}};

TEST(MatrixTiling, TakesTheTileThatWastesLeast) {
  EXPECT_EQ(matrix_tile_choice(matrix_tile_plan({1, 12, 33, 33, 24, 7}, kMatrixSizes)),
            "tiles of 32 maps x 128 pixels");
  EXPECT_EQ(matrix_tile_choice(matrix_tile_plan({1, 96, 27, 27, 256, 5, 1, 2}, kMatrixSizes)),
            "tiles of 64 maps x 128 pixels");
  EXPECT_EQ(matrix_tile_choice(matrix_tile_plan({1, 256, 13, 13, 384, 3, 1, 1}, kMatrixSizes)),
            "tiles of 64 maps x 64 pixels");  // 169 pixels are 3 x 64 and not quite 2 x 128
}

TEST(MatrixTiling, CoversTheLayer) {
  const ConvShape shape{3, 8, 20, 23, 150, 3, 2, 1, 2};
  const MatrixTilePlan plan = matrix_tile_plan(shape, kMatrixSizes);
  EXPECT_EQ(plan.tiling.taps, 48);  // 36, rounded up to whole steps
  EXPECT_GE(plan.tiling.map_tiles * plan.size.maps, 75);
  EXPECT_EQ(plan.grid.x, 3U);
  EXPECT_EQ(plan.grid.y, static_cast<unsigned>(2 * plan.tiling.map_tiles));
  EXPECT_GE(plan.grid.z * plan.block.x, 120U);
}

TEST(MatrixTiling, PacksTheTableOfTapsAndThenTheWeights) {
  const ConvShape shape{1, 4, 9, 8, 6, 2, 1, 0, 2};  // 3 maps of 8 taps in each group
  const MatrixTilePlan plan = matrix_tile_plan(shape, kMatrixSizes);
  ASSERT_EQ(plan.tiling.taps, 16);
  std::vector<float> weights(static_cast<std::size_t>(shape.weight_elements()));
  std::iota(weights.begin(), weights.end(), 1.0F);
  const std::vector<float> packed = pack_for_matrix_tile(shape, plan, weights.data());
  const auto maps = static_cast<std::size_t>(plan.size.maps);
  ASSERT_EQ(packed.size(), 16U * floats_per_tap_place + 2U * 16U * maps);

  std::vector<TapPlace> places(16);
  std::memcpy(places.data(), packed.data(), 16 * sizeof(TapPlace));
  EXPECT_EQ(places[7].offset, 9 * 8 + 8 + 1);  // channel 1, row 1, column 1
  EXPECT_EQ(places[7].row, 1);
  EXPECT_EQ(places[7].column, 1);
  EXPECT_GT(places[8].row, 16383);  // beyond every image: it reads as padding

  const float* const of_tile = packed.data() + 16 * floats_per_tap_place;
  for (std::size_t group = 0; group < 2; ++group) {
    for (std::size_t tap = 0; tap < 16; ++tap) {
      for (std::size_t map = 0; map < maps; ++map) {
        const float expected = tap < 8 && map < 3 ? static_cast<float>((group * 3 + map) * 8 + tap + 1) : 0.0F;
        ASSERT_EQ(of_tile[(group * 16 + tap) * maps + map], expected);
      }
    }
  }
}

TEST(MatrixTiling, RefusesImagesThatItsTableCannotDescribe) {
  EXPECT_EQ(matrix_tile_error({1, 1, 28, 28, 50, 5}, kMatrixSizes), "");
  EXPECT_NE(matrix_tile_error({1, 1, 3, 16384, 1, 3}, kMatrixSizes).find("16383"), std::string::npos);
}

}  // namespace
}  // namespace convladder

#endif  // CONVLADDER_HAS_CUDA_FAMILY
