// The host's side of the register tile: what is chosen for a layer, and the order of its weights.
#if CONVLADDER_HAS_CUDA_FAMILY

#include "variants/convolution/cuda/register_tiling.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace convladder {
namespace {

constexpr RegisterTileSize kTileSizes[] = {{5, 1, 10, 6, 6}, {7, 1, 8, 9, 9}, {7, 1, 4, 16, 16}, {11, 4, 8, 5, 5}};

const ConvShape kLenet72Conv2{8, 12, 33, 33, 24, 7};

TEST(RegisterTiling, TakesTheTileThatFitsTheLayer) {
  const auto plan = register_tile_plan(kLenet72Conv2, kTileSizes);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->compiled, 1U);  // 27 columns are 3 x 9
  EXPECT_EQ(plan->tiling.strips, 3);
  EXPECT_EQ(plan->tiling.rows * plan->tiling.strips * plan->tiling.map_groups, 243);
  EXPECT_EQ(plan->grid, (Dim3{8, 1, 1}));  // each input is loaded once
  EXPECT_EQ(plan->block, (Dim3{256, 1, 1}));
  EXPECT_EQ(register_tile_choice(*plan),
            "8 maps x 9 pixels per thread, 27 x 27 pixels x 24 maps per block, 3 channels per step");
}

TEST(RegisterTiling, CoversEveryOutputWithinTheLimitsOfABlock) {
  for (const ConvShape& shape : {kLenet72Conv2, ConvShape{1, 1, 28, 28, 50, 5}, ConvShape{3, 3, 227, 227, 96, 11, 4},
                                 ConvShape{1, 96, 27, 27, 256, 5, 1, 2}, ConvShape{2, 1, 6, 3000, 3, 5},
                                 ConvShape{1, 4, 7, 7, 2, 7, 1, 3, 2}, ConvShape{1, 2, 5, 5, 1000, 5}}) {
    const auto plan = register_tile_plan(shape, kTileSizes);
    ASSERT_TRUE(plan.has_value()) << shape_name(shape);
    const RegisterTiling& tiling = plan->tiling;
    const int columns = tiling.strips * plan->size.pixels;
    EXPECT_LE(tiling.rows * tiling.strips * tiling.map_groups, static_cast<int>(plan->block.x)) << shape_name(shape);
    EXPECT_LE(plan->block.x, static_cast<unsigned>(register_tile_threads));
    EXPECT_LE(plan->shared_bytes, max_shared_bytes);
    EXPECT_EQ(static_cast<int>(plan->grid.z),
              ceil_div(shape.out_height(), tiling.rows) * ceil_div(shape.out_width(), columns));
    EXPECT_GE(tiling.map_blocks * tiling.map_groups * plan->size.maps, shape.maps_per_group());
    EXPECT_GE(tiling.pitch, (columns - 1) * shape.stride + shape.kernel);
  }
}

TEST(RegisterTiling, PacksWeightsMapsInnermostWithZerosForMissingMaps) {
  const ConvShape shape{1, 4, 9, 9, 6, 5, 1, 0, 2};  // 3 maps of 2 channels in each group
  const auto plan = register_tile_plan(shape, kTileSizes);
  ASSERT_TRUE(plan.has_value());
  std::vector<float> weights(static_cast<std::size_t>(shape.weight_elements()));
  std::iota(weights.begin(), weights.end(), 1.0F);
  const std::vector<float> packed = pack_for_register_tile(shape, *plan, weights.data());
  ASSERT_EQ(packed.size(), 2U * 50 * 10);
  for (std::size_t group = 0; group < 2; ++group) {
    for (std::size_t tap = 0; tap < 50; ++tap) {
      for (std::size_t map = 0; map < 10; ++map) {
        const float expected = map < 3 ? static_cast<float>((group * 3 + map) * 50 + tap + 1) : 0.0F;
        ASSERT_EQ(packed[(group * 50 + tap) * 10 + map], expected);
      }
    }
  }
}

TEST(RegisterTiling, GivesABlockSeveralImagesWhereTheyDivideTheBatch) {
  EXPECT_EQ(images_per_block(1), 1);
  EXPECT_EQ(images_per_block(3), 1);
  EXPECT_EQ(images_per_block(8), 2);
  EXPECT_EQ(images_per_block(1001), 1);
  EXPECT_EQ(images_per_block(1002), 2);
  EXPECT_EQ(images_per_block(2000), 4);
  const auto plan = register_tile_plan(kLenet72Conv2.with_batch(2000), kTileSizes);
  ASSERT_TRUE(plan.has_value());
  const RegisterTilePlan several = with_images_per_block(*plan, 4);
  EXPECT_EQ(several.grid.x, 500U);
  EXPECT_EQ(several.tiling.images_per_block, 4);
}

TEST(RegisterTiling, RowsBeginAtMultiplesOfFourWhereVectorsOfFourAreLoaded) {
  constexpr RegisterTileSize kVectors[] = {{7, 1, 12, 4, 4}, {5, 1, 8, 8, 4}};
  for (const ConvShape& shape : {kLenet72Conv2, ConvShape{1, 1, 28, 28, 50, 5}}) {
    const auto plan = register_tile_plan(shape, kVectors);
    ASSERT_TRUE(plan.has_value());
    EXPECT_EQ(plan->tiling.pitch % 4, 0);
    // The last vector of a row ends inside of its row.
    const int columns = plan->tiling.strips * plan->size.pixels;
    EXPECT_GE(plan->tiling.pitch, columns - 4 + (3 + shape.kernel + 3) / 4 * 4);
  }
}

TEST(RegisterTiling, SaysWhichKernelsAreCompiled) {
  EXPECT_EQ(register_tile_error({1, 1, 9, 9, 1, 3}, kTileSizes),
            "kernel 3 with stride 1 is not among the compiled ones (kernel/stride): 5/1, 7/1, 11/4");
  EXPECT_EQ(register_tile_error(kLenet72Conv2, kTileSizes), "");
  EXPECT_NE(register_tile_error({1, 70000, 5, 5, 70000, 5, 1, 0, 70000}, kTileSizes).find("65535"), std::string::npos);
}

}  // namespace
}  // namespace convladder

#endif  // CONVLADDER_HAS_CUDA_FAMILY
