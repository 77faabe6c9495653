// The stages on AMX tiles, emulated: right, exact on small integers, and with as many tile products as they say.
#include "variants/convolution/cpu/tile_convolution.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "devices/cpu/tile_unit.hpp"
#include "sanitized.hpp"
#include "variants/convolution/conv_run.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

constexpr const char* kStages[] = {"amx-six-products", "amx-three-products"};

class TileStages : public testing::Test {
 protected:
  void SetUp() override { setenv("CONVLADDER_AMX", "emulated", 1); }
  void TearDown() override { unsetenv("CONVLADDER_AMX"); }

  static const Variant& stage(std::string_view name) {
    return *find_variant(convolution_problem(), "cpu", name)->variant;
  }

  static double largest_error(const std::vector<float>& output, const ReferenceOutput& expected) {
    double largest = 0;
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (expected.magnitude[i] == 0) continue;
      largest = std::max(largest, std::abs(output[i] - expected.value[i]) / expected.magnitude[i]);
    }
    return largest;
  }

  static void check(const std::vector<ConvShape>& shapes) {
    for (const ConvShape& shape : shapes) {
      ASSERT_EQ(shape_error(shape), "") << shape_name(shape);
      const ConvTestData whole = integer_data(shape, 3);
      const ConvTestData real = random_data(shape, 4);
      const ReferenceOutput of_whole = reference_of_all_images(shape, whole);
      const ReferenceOutput of_real = reference_of_all_images(shape, real);
      for (const char* const name : kStages) {
        SCOPED_TRACE(fmt::format("{}, {} batch {}", name, shape_name(shape), shape.batch));
        ASSERT_EQ(stage(name).unsupported_reason(shape), "");
        // Whole numbers up to 8 are one bf16 number each.
        expect_within(convolved(stage(name), shape, whole), of_whole, 0);
        expect_within(convolved(stage(name), shape, real), of_real, stage(name).tolerance());
      }
    }
  }
};

TEST_F(TileStages, ComputeTheLayersOfTheNetworks) {
  check({{2, 1, 28, 28, 50, 5},
         {2, 1, 72, 72, 12, 7},
         {2, 12, 33, 33, 24, 7},
         {1, 1, 86, 86, 4, 7},
         {1, 4, 40, 40, 16, 7}});
}

TEST_F(TileStages, ComputeTheLayersOfAlexNet) {
  for (ConvShape shape : {ConvShape{1, 3, 227, 227, 96, 11, 4},
                          {1, 96, 27, 27, 256, 5, 1, 2, 2},
                          {1, 256, 13, 13, 384, 3, 1, 1},
                          {1, 384, 13, 13, 384, 3, 1, 1, 2},
                          {1, 384, 13, 13, 256, 3, 1, 1}}) {
    shape.out_channels /= kSanitized ? 32 : 8;  // what the other maps would add is time
    check({shape});
  }
}

TEST_F(TileStages, TakeEveryStrideAndPaddingOfEveryKernel) {
  for (const int kernel : {1, 2, 3, 5, 11}) {
    for (int stride = 1; stride <= 4; ++stride) {
      for (const int padding : {0, kernel / 2, kernel - 1})
        check({{2, 2, 17, 14, 3, kernel, stride, padding}, {2, 3, 17, 14, 3, kernel, stride, padding}});
    }
  }
}

// Of 16 maps and two such, of 16 pixels and two such, of 32 taps and of a pair.
TEST_F(TileStages, TakeEveryRestOfATile) {
  for (const int maps : {1, 15, 16, 17, 32, 33, 47, 49}) check({{1, 3, 9, 8, maps, 3}});
  for (const int width : {3, 4, 8, 10, 17, 18, 19, 33, 34, 35, 50})
    check({{1, 2, 5, width, 4, 3}, {2, 1, 3, width, 4, 3}});
  for (const int channels : {1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 257, 300}) check({{1, channels, 4, 5, 5, 1}});
}

TEST_F(TileStages, TakeGroups) {
  check({{2, 6, 9, 9, 9, 3, 1, 1, 3}, {1, 8, 12, 7, 40, 3, 2, 1, 2}, {1, 16, 10, 10, 16, 3, 1, 1, 16}});
}

// Rows narrower than a tile's pixels lie in it several at a time; a kernel may be as large as the image.
TEST_F(TileStages, TakeNarrowImagesAndLargeKernels) {
  check({{3, 4, 20, 1, 3, 1},
         {1, 2, 40, 2, 3, 2},
         {1, 3, 30, 5, 18, 3, 1, 1},
         {1, 2, 19, 19, 3, 17, 1, 3},
         {1, 1, 18, 18, 2, 18},
         {1, 3, 25, 25, 2, 19, 3, 2}});
}

TEST_F(TileStages, SumManyTapsAsExactly) {
  const ConvShape shape{1, kSanitized ? 256 : 2048, 5, 5, 4, 3};  // 18432 taps
  check({shape});
  const ConvTestData data = random_data(shape, 5);
  const ReferenceOutput expected = reference_of_all_images(shape, data);
  const double six = largest_error(convolved(stage(kStages[0]), shape, data), expected);
  const double three = largest_error(convolved(stage(kStages[1]), shape, data), expected);
  EXPECT_LT(six, 3e-7);
  EXPECT_LT(six, three) << "the other products are worth something";
}

// The errors of all taps at once would average; of one they do not.
TEST_F(TileStages, KeepTheirClassForASingleTap) {
  const ConvShape shape{1, 1, 100, 100, 64, 1};
  const ConvTestData data = random_data(shape, 6);
  const ReferenceOutput expected = reference_of_all_images(shape, data);
  const double six = largest_error(convolved(stage(kStages[0]), shape, data), expected);
  const double three = largest_error(convolved(stage(kStages[1]), shape, data), expected);
  EXPECT_LE(six, 0x1p-23 + 5 * 0x1p-24) << "what is left out, and five roundings";
  EXPECT_LE(three, 3 * 0x1p-16 + 2 * 0x1p-24);
  EXPECT_GT(three, 0x1p-18) << "a class of its own for nothing";
}

TEST_F(TileStages, MakeAsManyTileProductsAsTheySay) {
  for (const ConvShape& shape : {ConvShape{3, 1, 28, 28, 50, 5}, {2, 40, 13, 13, 70, 3, 1, 1, 2}}) {
    const ConvTestData data = random_data(shape, 7);
    std::vector<float> output(static_cast<std::size_t>(shape.output_elements()));
    for (const PartProducts products : {PartProducts::three, PartProducts::six}) {
      TileConvolution convolution(shape, data.weights.data(), products);
      const std::int64_t before = emulated_tile_products();
      convolution.convolve(data.input.data(), output.data());
      EXPECT_EQ(emulated_tile_products() - before, convolution.tile_products());
      EXPECT_NE(convolution.choice().find(fmt::format(", {} tile products a call", convolution.tile_products())),
                std::string::npos)
          << convolution.choice();
      EXPECT_EQ(convolution.choice().find("AMX, emulated"), 0U) << convolution.choice();
    }
  }
  // 50 maps: 4 tiles; 576 pixels: 36; 25 taps: 1 step; 3 images.
  const ConvShape shape{3, 1, 28, 28, 50, 5};
  EXPECT_EQ(TileConvolution(shape, random_data(shape, 7).weights.data(), PartProducts::six).tile_products(),
            6 * 4 * 36 * 1 * 3);
}

TEST_F(TileStages, AreTheSameWithAnyNumberOfThreads) {
  const ConvShape shape{2, 30, 13, 13, 70, 3, 1, 1};
  const ConvTestData data = random_data(shape, 8);
  const int before = omp_get_max_threads();
  std::vector<std::vector<float>> outputs;
  for (const int threads : {1, 2, 3, 64}) {
    omp_set_num_threads(threads);
    outputs.push_back(convolved(stage(kStages[0]), shape, data));
  }
  omp_set_num_threads(before);
  for (const std::vector<float>& output : outputs) EXPECT_EQ(output, outputs.front());
}

// Of the last task there are fewer; its tiles are of two images where one has an odd number of them.
TEST_F(TileStages, TakeSeveralImagesInATask) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const ConvShape shape{1, 16, 6, 6, 40, 3, 1, 1};
  const ConvTestData data = random_data(shape.with_batch(9), 11);
  const TileConvolution convolution(shape.with_batch(9), data.weights.data(), PartProducts::six);
  EXPECT_NE(convolution.choice().find(" images in 1 x 1 parts"), std::string::npos) << convolution.choice();
  for (int batch = 2; batch <= 9; ++batch) check({shape.with_batch(batch)});
  omp_set_num_threads(before);
}

// Planes that two slices share are cut for both, with two channels and, for the last, with one.
TEST_F(TileStages, CutWideInputsInSlices) {
  for (const int channels : {120, 121}) check({{1, channels, 40, 40, 3, 3, 1, 1}, {1, channels, 81, 81, 3, 3, 2, 1}});
}

// Also not where a tile has zeros for taps, maps or pixels that are not there.
TEST_F(TileStages, HideNoNanAndSpreadNone) {
  // One channel, paired with its neighbours; the last of three, with strides whose neighbours lie in other phases.
  for (const ConvShape& shape :
       {ConvShape{1, 1, 9, 21, 3, 3, 1, 1}, {1, 3, 13, 21, 3, 5, 2, 2}, {1, 3, 13, 21, 3, 5, 3, 2}}) {
    const int pixels = shape.out_height() * shape.out_width();
    const int channel = shape.height * shape.width;
    for (const float odd : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
      for (const int at : {0, shape.width - 1, shape.width * 4 + 10, channel - 1}) {
        ConvTestData data = random_data(shape, 9);
        data.input[static_cast<std::size_t>((shape.in_channels - 1) * channel + at)] = odd;
        std::vector<float> output(static_cast<std::size_t>(shape.output_elements()));
        TileConvolution(shape, data.weights.data(), PartProducts::six).convolve(data.input.data(), output.data());
        const auto reads = [&](int first, int input) {
          const int tap = input - first * shape.stride + shape.padding;
          return tap >= 0 && tap < shape.kernel;
        };
        for (int i = 0; i < shape.output_elements(); ++i) {
          const int pixel = i % pixels;
          const bool is_near =
              reads(pixel / shape.out_width(), at / shape.width) && reads(pixel % shape.out_width(), at % shape.width);
          EXPECT_EQ(!std::isfinite(output[static_cast<std::size_t>(i)]), is_near)
              << shape_name(shape) << ", element " << i << ", NaN at " << at;
        }
      }
    }
  }
}

// The order of products and sums is the same, so that every bit is.
TEST_F(TileStages, AreTheSameOnAmx) {
  for (const ConvShape& shape :
       {ConvShape{2, 30, 13, 13, 70, 3, 1, 1}, {3, 1, 28, 28, 50, 5}, {1, 6, 9, 9, 9, 3, 2, 1, 3}}) {
    const ConvTestData data = random_data(shape, 10);
    for (const char* const name : kStages) {
      setenv("CONVLADDER_AMX", "emulated", 1);
      const std::vector<float> emulated = convolved(stage(name), shape, data);
      unsetenv("CONVLADDER_AMX");
      if (tile_unit() != TileUnit::processor) GTEST_SKIP() << why_no_tile_unit();
      EXPECT_EQ(convolved(stage(name), shape, data), emulated) << name << " " << shape_name(shape);
    }
  }
}

TEST_F(TileStages, AreNeverTimedWhereEmulated) {
  for (const char* const name : kStages) {
    EXPECT_EQ(stage(name).why_untimed(), "its tile instructions are emulated (CONVLADDER_AMX)");
    EXPECT_FALSE(stage(name).suits(ConvShape{1, 96, 27, 27, 256, 5, 1, 2}));
  }
}

// Nobody is given less accuracy unasked.
TEST_F(TileStages, SuitWideLayersOnAmx) {
  const ConvShape wide{1, 384, 13, 13, 256, 3, 1, 1};
  const ConvShape few_maps{16, 12, 33, 33, 24, 7};
  const ConvShape few_taps{16, 3, 227, 227, 96, 11, 4};
  unsetenv("CONVLADDER_AMX");
  const bool has_amx = tile_unit() == TileUnit::processor;
  EXPECT_EQ(stage("amx-six-products").suits(wide), has_amx);
  const auto without = std::ranges::count_if(std::array{"map-lanes", "winograd", "winograd-map-lanes"},
                                             [&](const char* name) { return stage(name).suits(wide); });
  EXPECT_EQ(without, has_amx ? 0 : 1) << "one default for a layer";
  EXPECT_FALSE(stage("amx-six-products").suits(few_maps));
  EXPECT_FALSE(stage("amx-six-products").suits(few_taps));
  EXPECT_FALSE(stage("amx-three-products").suits(wide));
}

TEST_F(TileStages, SayWhatIsMissingWithoutAmx) {
  unsetenv("CONVLADDER_AMX");
  if (tile_unit() == TileUnit::processor) GTEST_SKIP() << "this processor has AMX";
  for (const char* const name : kStages) {
    const std::string reason = stage(name).unsupported_reason(ConvShape{1, 1, 28, 28, 50, 5});
    EXPECT_NE(reason.find("CONVLADDER_AMX=emulated"), std::string::npos) << reason;
    EXPECT_EQ(stage(name).why_untimed(), "");
  }
}

}  // namespace
}  // namespace convladder
