// The host's side of the stages whose fragments come from an image: tiles, offsets of taps, order of the weights.
#if CONVLADDER_HAS_CUDA_FAMILY

#include "variants/convolution/cuda/tensor_image_tiling.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>

namespace convladder {
namespace {

TEST(TensorImageTiling, TakesTheTileThatLeavesLeastIdle) {
  EXPECT_EQ(tensor_image_choice(tensor_image_plan({8, 12, 33, 33, 24, 7}, Tf32Parts::one)),
            "tiles of 32 maps x 256 pixels, 12 channels per step");
  EXPECT_EQ(tensor_image_choice(tensor_image_plan({8, 12, 33, 33, 24, 7}, Tf32Parts::two)),
            "tiles of 32 maps x 256 pixels, 6 channels per step");
  EXPECT_EQ(tensor_image_plan({1, 384, 13, 13, 384, 3, 1, 1}, Tf32Parts::one).block, (Dim3{192, 1, 1}));
}

TEST(TensorImageTiling, CoversTheLayerInSharedMemory) {
  for (const ConvShape& shape : {ConvShape{1, 96, 27, 27, 256, 5, 1, 2}, ConvShape{2, 3, 227, 227, 96, 11, 4},
                                 ConvShape{1, 8, 20, 23, 12, 3, 2, 1, 2}, ConvShape{1, 1, 1, 1, 1, 1}}) {
    for (const Tf32Parts parts : {Tf32Parts::one, Tf32Parts::two}) {
      ASSERT_EQ(tensor_image_error(shape, parts), "") << shape_name(shape);
      const TensorImagePlan plan = tensor_image_plan(shape, parts);
      EXPECT_GE(plan.tiling.steps * plan.tiling.channels_per_step, shape.channels_per_group());
      EXPECT_LT((plan.tiling.steps - 1) * plan.tiling.channels_per_step, shape.channels_per_group());
      EXPECT_GE(plan.tiling.fragments * fragment_taps, plan.tiling.channels_per_step * shape.kernel * shape.kernel);
      EXPECT_GE(static_cast<int>(plan.grid.z * plan.block.x), shape.out_height() * shape.out_width());
    }
  }
  EXPECT_NE(tensor_image_error({1, 1, 40, 9000, 1, 9}, Tf32Parts::one).find("bytes of shared memory"),
            std::string::npos);
}

TEST(TensorImageTiling, PacksOffsetsAndFragments) {
  const ConvShape shape{1, 1, 12, 12, 20, 3};  // 9 taps: two fragments, and a second tile of maps in the second half
  const TensorImagePlan plan = tensor_image_plan(shape, Tf32Parts::two);
  ASSERT_EQ(plan.maps, 32);
  ASSERT_EQ(plan.tiling.fragments, 2);
  std::vector<float> weights(static_cast<std::size_t>(shape.weight_elements()));
  std::iota(weights.begin(), weights.end(), 1.0F);
  weights[0] = 1.0F + 0x1p-12F;  // of map 0, tap 0: more bits than tf32 has
  const std::vector<float> packed = pack_for_tensor_image(shape, plan, Tf32Parts::two, weights.data());
  ASSERT_EQ(packed.size(), 16U + 2U * 2 * 2 * 128);  // fragments x halves of 16 maps x parts x lanes x 4
  EXPECT_EQ(std::bit_cast<int>(packed[0]), 0);
  EXPECT_EQ(std::bit_cast<int>(packed[1]), plan.tiling.pitch + 1);      // tap 4: row 1, column 1
  EXPECT_EQ(std::bit_cast<int>(packed[6]), plan.tiling.pitch);          // tap 3
  EXPECT_EQ(std::bit_cast<int>(packed[8]), 2 * plan.tiling.pitch + 2);  // tap 8, in the second fragment
  EXPECT_EQ(std::bit_cast<int>(packed[9]), 0);                          // which has no tap 12

  const float* const fragment = packed.data() + 16;
  EXPECT_EQ(fragment[0], 1.0F);               // map 0, tap 0, the nearest tf32
  EXPECT_EQ(fragment[128], 0x1p-12F);         // and the rest
  EXPECT_EQ(fragment[1], weights[8 * 9]);     // map 8, tap 0
  EXPECT_EQ(fragment[2], weights[4]);         // map 0, tap 4
  EXPECT_EQ(fragment[4], weights[1]);         // the next lane: tap 1
  EXPECT_EQ(fragment[256], weights[16 * 9]);  // map 16
  EXPECT_EQ(fragment[256 + 16 * 4], 0.0F);    // lane 16 has map 20, which does not exist
}

}  // namespace
}  // namespace convladder

#endif  // CONVLADDER_HAS_CUDA_FAMILY
