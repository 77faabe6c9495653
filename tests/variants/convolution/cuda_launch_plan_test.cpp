// Launch plans are pure: what a GPU would be asked for is checked here without one.
#if CONVLADDER_HAS_CUDA_FAMILY

#include <gtest/gtest.h>

#include <cstring>

#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cuda/map_loop_tiling.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

ConvShape layer(int in_channels, int size, int out_channels, int kernel, int stride = 1, int padding = 0,
                int groups = 1) {
  return {1, in_channels, size, size, out_channels, kernel, stride, padding, groups};
}

std::vector<ConvShape> layers() {
  std::vector<ConvShape> shapes = {
      layer(1, 28, 50, 5),
      layer(1, 72, 12, 7),
      layer(12, 33, 24, 7),
      layer(1, 86, 4, 7),
      layer(4, 40, 16, 7),
      layer(3, 227, 96, 11, 4),
      layer(96, 27, 256, 5, 1, 2),
      layer(256, 13, 384, 3, 1, 1),
      layer(384, 13, 384, 3, 1, 1),
      layer(384, 13, 256, 3, 1, 1),
      layer(64, 56, 256, 1),
      layer(32, 28, 32, 3, 1, 1, 32),
      layer(1, 1, 1, 1),
      layer(3, 224, 64, 7, 2, 3),
      layer(8, 9, 6, 9, 2, 8, 2),
      layer(1, 2000, 1, 3),
      layer(2, 65, 3000, 64),
  };
  for (int kernel = 1; kernel <= 11; ++kernel) {
    for (int stride = 1; stride <= 4; ++stride) {
      for (int padding = 0; padding < kernel; padding += 2)
        shapes.push_back(layer(6, 31, 10, kernel, stride, padding, 2));
    }
  }
  return shapes;
}

/// The stages that take the layer's sizes and, from the fourth on, a `MapLoopTiling`.
constexpr int kFirstSix = 6;

template <typename Visit>
void for_each_plan(Visit visit) {
  for (const ConvShape& one_image : layers()) {
    for (const int batch : {1, 100, images_that_fill_a_gpu, 1000000}) {
      const ConvShape shape = one_image.with_batch(batch);
      ASSERT_EQ(shape_error(shape), "") << shape_name(shape);
      for (const ProblemVariant& registered : convolution_problem().variants()) {
        if (registered.info.family != "cuda" || !registered.info.rung) continue;
        if (!registered.variant->unsupported_reason(shape).empty()) continue;
        SCOPED_TRACE(std::string(registered.info.name) + " " + shape_name(shape) + " batch " + std::to_string(batch));
        const std::vector<KernelLaunch> plan = registered.variant->launch_plan(shape);
        ASSERT_FALSE(plan.empty());
        for (const KernelLaunch& launch : plan) visit(registered.info, shape, launch);
      }
    }
  }
}

TEST(CudaLaunchPlan, StaysInsideTheLimitsOfEveryGpu) {
  for_each_plan([](const VariantInfo&, const ConvShape& shape, const KernelLaunch& launch) {
    EXPECT_GE(launch.grid.x, 1U);
    EXPECT_LE(launch.grid.x, static_cast<unsigned>(shape.batch));
    EXPECT_GE(launch.grid.y, 1U);
    EXPECT_LE(launch.grid.y, max_grid_yz);
    EXPECT_GE(launch.grid.z, 1U);
    EXPECT_LE(launch.grid.z, max_grid_yz);
    EXPECT_LE(launch.block.x * launch.block.y * launch.block.z, static_cast<unsigned>(max_threads_per_block));
    EXPECT_LE(launch.dynamic_shared_bytes, max_shared_bytes);
  });
}

TEST(CudaLaunchPlan, ArgumentsHaveTheSizesOfTheParameters) {
  for_each_plan([](const VariantInfo& info, const ConvShape& shape, const KernelLaunch& launch) {
    if (*info.rung > kFirstSix) return;
    std::vector<std::size_t> sizes;
    for (const std::vector<std::byte>& argument : launch.arguments) sizes.push_back(argument.size());
    std::vector<std::size_t> expected = {sizeof(void*), sizeof(void*), sizeof(void*), sizeof(LayerSizes)};
    if (*info.rung >= 4) expected.push_back(sizeof(MapLoopTiling));
    ASSERT_EQ(sizes, expected);
    LayerSizes passed{};
    std::memcpy(&passed, launch.arguments[3].data(), sizeof passed);
    EXPECT_EQ(passed.out_height, shape.out_height());
    EXPECT_EQ(passed.maps_per_group, shape.maps_per_group());
  });
}

TEST(CudaLaunchPlan, EveryShapeThatNetworksHaveIsRunByTheFirstSixStages) {
  std::size_t index = 0;
  for (const ConvShape& shape : layers()) {
    if (++index > 12) break;
    for (const ProblemVariant& registered : convolution_problem().variants()) {
      if (registered.info.family != "cuda" || registered.info.rung.value_or(kFirstSix + 1) > kFirstSix) continue;
      EXPECT_EQ(registered.variant->unsupported_reason(shape), "") << registered.info.name << " " << shape_name(shape);
    }
  }
}

TEST(CudaLaunchPlan, ReasonsSayWhatIsTooLarge) {
  const auto reason = [](std::string_view name, const ConvShape& shape) {
    return find_variant(convolution_problem(), "cuda", name)->variant->unsupported_reason(shape);
  };
  const ConvShape huge_kernel = layer(1, 300, 1, 200);
  for (const char* name : {"shared-memory", "block-remap", "loop-unrolling"}) {
    EXPECT_NE(reason(name, huge_kernel).find("bytes of shared memory, but a block has 49152"), std::string::npos)
        << reason(name, huge_kernel);
    EXPECT_TRUE(find_variant(convolution_problem(), "cuda", name)->variant->launch_plan(huge_kernel).empty());
  }
  EXPECT_NE(reason("global-memory", layer(1, 4, 70000, 1)).find("65535"), std::string::npos);
  EXPECT_NE(reason("block-remap", layer(70000, 2, 70000, 1, 1, 0, 70000)).find("65535"), std::string::npos);
  EXPECT_NE(reason("compile-time", layer(1, 28, 4, 6)).find("5/1"), std::string::npos);
}

TEST(MapLoopTiling, CoversTheLayerAndFitsIntoItsBlock) {
  for (const ConvShape& one_image : layers()) {
    for (const int batch : {1, images_that_fill_a_gpu}) {
      const ConvShape shape = one_image.with_batch(batch);
      const std::optional<MapLoopPlan> plan = map_loop_plan(shape);
      ASSERT_TRUE(plan.has_value()) << shape_name(shape);
      const MapLoopTiling& tiling = plan->tiling;
      EXPECT_GE(tiling.rows, 1);
      EXPECT_GE(tiling.columns, 1);
      EXPECT_GE(tiling.maps_per_step, 1);
      EXPECT_LE(tiling.rows * tiling.columns * tiling.maps_per_step, max_threads_per_block) << shape_name(shape);
      EXPECT_GE(tiling.channels_per_step, 1);
      EXPECT_LE(tiling.channels_per_step, shape.channels_per_group());
      EXPECT_GE(static_cast<int>(plan->grid.y) * tiling.maps_per_block, shape.maps_per_group());
      EXPECT_EQ(plan->grid.z, static_cast<unsigned>(shape.groups));
    }
  }
}

TEST(MapLoopTiling, ManyImagesGetABlockEachAndFewAreSpreadOverTheGrid) {
  const ConvShape lenet = layer(1, 28, 50, 5);
  const auto many = map_loop_plan(lenet.with_batch(images_that_fill_a_gpu));
  EXPECT_EQ(many->grid, (Dim3{static_cast<unsigned>(images_that_fill_a_gpu), 1, 1}));
  EXPECT_EQ(many->tiling.maps_per_block, 50);
  const auto few = map_loop_plan(lenet.with_batch(images_that_fill_a_gpu - 1));
  EXPECT_GT(few->grid.y, 1U);
}

TEST(MapLoopTiling, KeepsTheInputOfAllChannelsWhereItFits) {
  const auto plan = map_loop_plan(layer(12, 33, 24, 7).with_batch(1000));
  EXPECT_EQ(plan->tiling.channels_per_step, 12);
}

}  // namespace
}  // namespace convladder

#endif  // CONVLADDER_HAS_CUDA_FAMILY
