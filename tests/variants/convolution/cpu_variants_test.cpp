// Every CPU variant there is, over many shapes: within the tolerance on real numbers, exact on small integers.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <bit>
#include <cmath>

#include "sanitized.hpp"
#include "variants/convolution/conv_run.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/conv_test_data.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

constexpr double kTolerance = 1e-6;  // of sum |x * w|: float32 in any order

constexpr int kFewerMaps = kSanitized ? 16 : 1;  // sanitizers see the same accesses in fewer

std::vector<ProblemVariant> cpu_variants() {
  std::vector<ProblemVariant> variants;
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    if (registered.info.family == "cpu") variants.push_back(registered);
  }
  return variants;
}

enum class Numbers { integers, real };

void check_all_variants(const ConvShape& shape, Numbers numbers) {
  ASSERT_EQ(shape_error(shape), "") << shape_name(shape);
  const bool exact = numbers == Numbers::integers;
  const ConvTestData data = exact ? integer_data(shape, 11) : random_data(shape, 12);
  const ReferenceOutput expected = reference_of_all_images(shape, data);
  for (const ProblemVariant& registered : cpu_variants()) {
    if (!registered.variant->unsupported_reason(shape).empty()) continue;
    SCOPED_TRACE(fmt::format("cpu variant {}, {} batch {}, {}", registered.info.name, shape_name(shape), shape.batch,
                             exact ? "integers" : "real numbers"));
    const double tolerance = std::max(kTolerance, registered.variant->tolerance());
    const bool is_coarse = tolerance > kTolerance;
    expect_within(convolved(*registered.variant, shape, data), expected, exact && !is_coarse ? 0 : tolerance);
  }
}

void check_all_variants(const std::vector<ConvShape>& shapes) {
  for (const ConvShape& shape : shapes) {
    check_all_variants(shape, Numbers::real);
    check_all_variants(shape, Numbers::integers);
  }
}

TEST(CpuVariants, ComputeTheLayersOfTheLenets) {
  check_all_variants({{3, 1, 28, 28, 50, 5}, {3, 1, 72, 72, 12, 7}, {2, 12, 33, 33, 24, 7}, {1, 4, 40, 40, 16, 7}});
}

std::vector<ConvShape> alexnet_layers() {
  return {{1, 3, 227, 227, 96, 11, 4},
          {1, 96, 27, 27, 256, 5, 1, 2},
          {1, 256, 13, 13, 384, 3, 1, 1},
          {1, 384, 13, 13, 384, 3, 1, 1},
          {1, 384, 13, 13, 256, 3, 1, 1}};
}

TEST(CpuVariants, ComputeTheLayersOfAlexNet) {
  for (ConvShape shape : alexnet_layers()) {
    shape.out_channels /= kFewerMaps;
    check_all_variants(shape, Numbers::real);
  }
}

TEST(CpuVariants, AreExactOnIntegersForTheLayersOfAlexNet) {
  for (ConvShape shape : alexnet_layers()) {
    shape.out_channels /= kSanitized ? 64 : 16;  // what the other maps would add is time
    check_all_variants(shape, Numbers::integers);
  }
}

TEST(CpuVariants, RunEveryLayerOfTheLenets) {
  for (const ConvShape& shape : {ConvShape{1, 1, 28, 28, 50, 5}, {1, 1, 72, 72, 12, 7}, {1, 12, 33, 33, 24, 7}}) {
    for (const ProblemVariant& registered : cpu_variants()) {
      if (registered.info.name.starts_with("winograd") && shape.in_channels == 1) continue;  // says why, see below
      if (registered.info.name.starts_with("amx-")) continue;  // needs a processor that has it
      if (registered.info.name == "onnxruntime") continue;     // may not be there
      const std::string why = registered.variant->unsupported_reason(shape);
      if (why.find("there are no copies") != std::string::npos) continue;  // which this one would leave out
      EXPECT_EQ(why, "") << registered.info.name << " " << shape_name(shape);
    }
  }
}

TEST(CpuVariants, TakeEveryStrideAndPaddingOfEveryKernel) {
  for (const int kernel : {1, 2, 3, 4, 5, 7, 11}) {
    for (int stride = 1; stride <= 4; ++stride) {
      for (const int padding : {0, 1, kernel / 2, kernel - 1}) {
        if (padding >= kernel) continue;
        check_all_variants({{2, 2, 17, 14, 3, kernel, stride, padding}});
      }
    }
  }
}

// Tiles of the stages from 07 on: up to 8 maps x 48 pixels with AVX-512, 6 x 16 with AVX2, 4 x 8 otherwise.
TEST(CpuVariants, TakeEveryRestOfATileOfMaps) {
  for (int maps = 1; maps <= 17; ++maps)
    check_all_variants({{1, 2, 7, 9, maps, 3}, {1, 4, 5, 5, 2 * maps, 3, 1, 1, 2}});
}

TEST(CpuVariants, TakeEveryRestOfATileOfPixels) {
  for (const int width : {1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 65, 97}) {
    check_all_variants({{2, 2, 1, width, 9, 1},                  // outputs of one row
                        {2, 2, 5, width, 5, 3, 1, 1},            // rows of any length
                        {1, 3, 6, 2 * width + 2, 3, 4, 2, 1},    // with a stride
                        {1, 2, width, 2, 3, 3, 1, 2},            // four outputs wide
                        {1, 1, 3 * width + 4, 5, 2, 5, 3, 0}});  // one output wide
  }
}

TEST(CpuVariants, TakeChannelsThatNeedSeveralPanels) {
  for (const int channels : {1, 13, 14, 15, 29, 42, 43, 127, 128, 129, 257}) {
    check_all_variants({{1, channels, 5, 6, 10, 3, 1, 1}, {1, channels, 5, 11, 3, 1}});
  }
  check_all_variants({{1, 2, 20, 19, 9, 12, 1, 11}, {2, 5, 40, 21, 17, 11, 4, 2}, {1, 3, 30, 30, 2, 17, 3, 16}});
}

// Eight channels are the fewest that the Winograd stage takes of kernels of size 3.
TEST(CpuVariants, TakeEveryKernelOfManyChannels) {
  for (const int kernel : {1, 2, 3, 4, 5, 7, 9}) {
    for (const int padding : {0, kernel / 2}) {
      check_all_variants({{2, 8, 11, 12, 5, kernel, 1, padding}, {1, 17, kernel, 13, 9, kernel, 1, padding}});
    }
  }
}

TEST(CpuVariants, TakeKernelsLargerThanTheImage) {
  check_all_variants(
      {{2, 2, 1, 1, 9, 5, 1, 4}, {1, 3, 2, 3, 5, 7, 2, 6}, {1, 1, 3, 1, 2, 11, 4, 5}, {2, 2, 4, 2, 10, 5, 3, 3}});
}

TEST(CpuVariants, TakeGroups) {
  check_all_variants({{2, 6, 14, 14, 6, 3, 1, 1, 6},
                      {2, 8, 9, 9, 4, 3, 2, 1, 2},
                      {1, 4, 9, 11, 12, 5, 1, 2, 4},
                      {3, 6, 7, 7, 9, 1, 1, 0, 3},
                      {1, 16, 12, 12, 32, 3, 1, 1, 2}});
}

TEST(CpuVariants, TakeImagesOfExtremeProportions) {
  check_all_variants({{1, 1, 1, 1, 1, 1},
                      {2, 3, 5, 5, 4, 5},        // a single output pixel
                      {1, 1, 1, 1, 1, 3, 1, 1},  // a single pixel, padding around it
                      {1, 1, 3, 2100, 2, 3},     // wide: rows longer than a run
                      {1, 1, 3, 2100, 2, 3, 2, 1},
                      {1, 2, 2100, 3, 2, 3},  // tall
                      {1, 2, 2100, 3, 2, 3, 3, 1},
                      {1, 1, 1, 700, 3, 1},
                      {1, 1, 700, 1, 3, 1},
                      {1, 1, 9, 130, 2, 3},  // rows as long as a run of the last stage, and one more
                      {1, 1, 9, 131, 2, 3}});
}

TEST(CpuVariants, TakeInputsThatNeedSeveralBandsOfRows) {
  check_all_variants({{1, 64, 60, 60, 3, 3, 1, 1},   // 15 rows fit into a tile
                      {2, 64, 60, 60, 2, 5, 2, 2},   //
                      {1, 512, 14, 14, 4, 3, 1, 1},  //
                      {1, 3000, 9, 9, 2, 3},         // not even one row of filters fits
                      {1, 1, 300, 700, 2, 7},        //
                      {1, 2000, 8, 8, 4, 1, 2},      //
                      {1, 1024, 12, 10, 8, 3, 1, 1, 8}});
}

TEST(CpuVariants, TakeEveryBatch) {
  for (const int batch : {1, 2, 3, 7, 65}) check_all_variants({{batch, 1, 12, 12, 3, 5}, {batch, 2, 6, 6, 2, 3, 2, 1}});
}

TEST(CpuVariants, SayWhichSizesTheyDoNotTake) {
  for (const ProblemVariant& registered : cpu_variants()) {
    for (const ConvShape& shape : {ConvShape{1, 1, 40, 40, 2, 6}, {1, 1, 40, 40, 2, 13}, {1, 1, 40, 40, 2, 3, 5}}) {
      const std::string reason = registered.variant->unsupported_reason(shape);
      EXPECT_EQ(reason, registered.variant->unsupported_reason(shape.with_batch(1000)))
          << registered.info.name << ": a batch is no reason";
      EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
      // Empty, or something that the machine lacks.
      if (reason == registered.variant->unsupported_reason(ConvShape{1, 16, 40, 40, 16, 3})) continue;
      EXPECT_NE(reason.find(std::to_string(shape.kernel)), std::string::npos) << reason;
      EXPECT_NE(reason.find(std::to_string(shape.stride)), std::string::npos) << reason;
    }
  }
}

constexpr const char* kWinogradStages[] = {"winograd", "winograd-map-lanes"};

TEST(CpuVariants, WinogradRefusesOutputsOfFewInputs) {
  for (const char* const name : kWinogradStages) {
    const ProblemVariant* const winograd = find_variant(convolution_problem(), "cpu", name);
    ASSERT_NE(winograd, nullptr);
    const auto refused = [&](const ConvShape& shape) { return winograd->variant->unsupported_reason(shape); };
    EXPECT_NE(refused({1, 7, 9, 9, 8, 3}).find("7 input channels"), std::string::npos);
    EXPECT_NE(refused({1, 16, 9, 9, 8, 3, 1, 1, 4}).find("4 input channels"), std::string::npos);
    EXPECT_NE(refused({1, 1, 72, 72, 12, 7}).find("fewer than 64 inputs"), std::string::npos);
    EXPECT_EQ(refused({1, 8, 9, 9, 8, 3}), "");
    EXPECT_EQ(refused({1, 3, 227, 227, 96, 11, 4}), "");
  }
}

/// Weights that are mostly small beside their neighbours, as those of a trained network.
void cube(std::vector<float>& weights) {
  for (float& weight : weights) weight = weight * weight * weight;
}

/// Keeps an input in `kept` of a thousand and makes zeros of the others.
void darken(std::vector<float>& input, int kept, std::uint64_t seed) {
  SeededRandom random(seed, 2);
  for (float& value : input) {
    if (random.between(0, 999) >= kept) value = 0;
  }
}

void expect_accurate_in_the_dark(const ConvShape& shape, int kept, bool uneven_weights) {
  ConvTestData data = random_data(shape, 31);
  darken(data.input, kept, 32);
  if (uneven_weights) cube(data.weights);
  SCOPED_TRACE(fmt::format("{} batch {}, {} of 1000 inputs, {} weights", shape_name(shape), shape.batch, kept,
                           uneven_weights ? "uneven" : "even"));
  const ReferenceOutput expected = reference_of_all_images(shape, data);
  for (const char* const name : kWinogradStages) {
    SCOPED_TRACE(name);
    const Variant& winograd = *find_variant(convolution_problem(), "cpu", name)->variant;
    ASSERT_EQ(winograd.unsupported_reason(shape), "");
    expect_within(convolved(winograd, shape, data), expected, granted_tolerance(kFloat32Tolerance, shape));
  }
}

// Where nearly all inputs of an output are zero its products can be tiny beside those that minimal filtering adds up.
TEST(CpuVariants, WinogradIsAccurateWhereNearlyAllIsDark) {
  for (const ConvShape& shape : {ConvShape{3, 3, 43, 39, 24, 11, 4},
                                 {17, 8, 9, 9, 24, 3, 1, 1},
                                 {2, 12, 20, 20, 24, 7},
                                 {2, 9, 13, 12, 17, 5, 1, 2},
                                 {2, 32, 15, 14, 20, 3, 2, 1, 2}}) {
    for (const int kept : {0, 1, 3, 10, 30, 100, 300, 1000}) {
      expect_accurate_in_the_dark(shape, kept, false);
      expect_accurate_in_the_dark(shape, kept, true);
    }
  }
}

/// Both Winograd stages, with each of these numbers of threads; 0: as many as there are.
void expect_winograd_is_right(const ConvShape& shape, const std::vector<int>& threads = {0}) {
  const int before = omp_get_max_threads();
  for (const ConvTestData& data : {integer_data(shape, 21), random_data(shape, 22)}) {
    const bool exact = data.input.front() == std::round(data.input.front());
    const ReferenceOutput expected = reference_of_all_images(shape, data);
    for (const int count : threads) {
      if (count > 0) omp_set_num_threads(count);
      for (const char* const name : kWinogradStages) {
        SCOPED_TRACE(fmt::format("{} {} batch {}, {} threads", name, shape_name(shape), shape.batch, count));
        const Variant& variant = *find_variant(convolution_problem(), "cpu", name)->variant;
        ASSERT_EQ(variant.unsupported_reason(shape), "");
        expect_within(convolved(variant, shape, data), expected, exact ? 0 : kTolerance);
      }
    }
    omp_set_num_threads(before);
  }
}

TEST(CpuVariants, WinogradTakesStrides) {
  for (const int kernel : {2, 3, 4, 5, 7, 11}) {
    for (const int stride : {2, 3, 4, 5}) {
      const int channels = 64 / (kernel * kernel) + 1;
      expect_winograd_is_right({3, channels, 17, 14, 9, kernel, stride, kernel / 2});
      expect_winograd_is_right({18, 2 * channels, 12, 23, 10, kernel, stride, 0, 2});
    }
  }
}

// Threads with images of their own, that share one by its rows or by its maps, and that are left without work.
TEST(CpuVariants, WinogradIsSharedOutOverAnyThreads) {
  for (const int batch : {1, 5}) {
    for (const ConvShape& shape : {ConvShape{batch, 12, 21, 19, 24, 7},
                                   {batch, 40, 9, 7, 200, 3, 1, 1},
                                   {batch, 32, 10, 11, 140, 3, 1, 1, 2},
                                   {batch, 9, 3, 40, 25, 3}}) {
      expect_winograd_is_right(shape, {1, 3, 16});
    }
  }
}

TEST(CpuVariants, WithCompileTimeSizesRefusesTheOthersAndListsItsOwn) {
  const ProblemVariant* const compiled = find_variant(convolution_problem(), "cpu", "compile-time");
  ASSERT_NE(compiled, nullptr);
  const std::string reason = compiled->variant->unsupported_reason(ConvShape{1, 1, 40, 40, 2, 6, 3});
  for (const char* part : {"kernel 6", "stride 3", "5/1", "7/1", "11/4"}) {
    EXPECT_NE(reason.find(part), std::string::npos) << reason;
  }
}

}  // namespace
}  // namespace convladder
