// Outputs that go to memory past the caches.
#include "variants/convolution/cpu/cache_lines.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "devices/cpu/cpu_device.hpp"
#include "devices/cpu/cpu_facts.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/conv_test_data.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

TEST(StreamedOutput, ThreadsHaveNoMoreOfTheLastLevelThanProcessorsHaveForACore) {
  constexpr std::int64_t kOfThread = std::int64_t{8} << 18;  // floats in 8 MiB
  EXPECT_FALSE(outgrows_caches(0, 1));
  for (const int threads : {1, 2, 64}) {
    SCOPED_TRACE(threads);
    EXPECT_TRUE(outgrows_caches(threads * kOfThread, threads));
    EXPECT_EQ(outgrows_caches(threads * kOfThread - 1, threads), outgrows_caches(threads * kOfThread - 1))
        << "only a smaller cache says so";
  }
}

// What the last-level cache does not hold is streamed: outputs of maps that are whole lines. The sums are the same to
// the last bit as those of the stage before.
TEST(StreamedOutput, WritesWhatTheStageBeforeWrites) {
  constexpr std::int64_t kMostFloats = std::int64_t{16} << 20;
  if (!outgrows_caches(kMostFloats, cpu_threads())) GTEST_SKIP() << "the caches are too large for a quick test";
  struct Case {
    ConvShape image;
    std::string way;
  };
  for (const Case& one :
       {Case{{1, 1, 26, 26, 50, 3}, "streamed from registers"}, Case{{1, 1, 27, 29, 47, 3}, "output lines prefetched"},
        Case{{1, 1, 36, 40, 13, 3}, "output lines prefetched"}}) {
    SCOPED_TRACE(shape_name(one.image));
    ConvShape shape = one.image;
    while (!outgrows_caches(shape.output_elements(), cpu_threads())) shape.batch += 64;
    const ConvTestData data = random_data(shape, 3);
    const auto elements = static_cast<std::size_t>(shape.output_elements());
    std::vector<float> results[2];
    for (int i = 0; i < 2; ++i) {
      const ProblemVariant* const stage =
          find_variant(convolution_problem(), "cpu", i == 0 ? "shifted-rows" : "streamed-output");
      ASSERT_NE(stage, nullptr);
      CpuDevice device;
      const DeviceBuffer output = device.allocate(elements * sizeof(float), "output");
      const auto prepared = stage->variant->prepare(
          device, shape, conv_tensors(shape, data.input.data(), data.weights.data(), output.floats()));
      if (i == 1) {
        EXPECT_NE(prepared->choice().find(one.way), std::string::npos) << prepared->choice();
      }
      prepared->run();
      results[i].resize(elements);
      device.copy_to_host(results[i].data(), output.address(), output.bytes());
      EXPECT_EQ(device.memory_violation(), "");
    }
    EXPECT_TRUE(results[0] == results[1]);
  }
}

}  // namespace
}  // namespace convladder
