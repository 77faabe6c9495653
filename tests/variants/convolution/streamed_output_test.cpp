// Outputs that go to memory past the caches.
#include "variants/convolution/cpu/cache_lines.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "devices/cpu/cpu_device.hpp"
#include "devices/cpu/cpu_facts.hpp"
#include "variants/convolution/conv_test_data.hpp"
#include "variants/convolution/registry.hpp"

namespace convladder {
namespace {

// What the last-level cache does not hold is streamed: outputs of maps that are whole lines. The sums are the same to
// the last bit as those of the stage before.
TEST(StreamedOutput, WritesWhatTheStageBeforeWrites) {
  std::size_t last_level = 0;
  for (const CpuCache& cache : cpu_caches()) last_level = std::max(last_level, cache.bytes);
  if (last_level > std::size_t{64} << 20) GTEST_SKIP() << "the last-level cache is too large for a quick test";
  struct Case {
    ConvShape image;
    std::string way;
  };
  for (const Case& one : {Case{{1, 1, 26, 26, 50, 3}, "streamed from registers"},
                          Case{{1, 1, 27, 29, 47, 3}, "stored through the caches"}}) {
    SCOPED_TRACE(shape_name(one.image));
    const std::int64_t bytes = one.image.output_elements_per_image() * static_cast<std::int64_t>(sizeof(float));
    const auto needed = static_cast<std::int64_t>(last_level > 0 ? last_level : std::size_t{32} << 20);
    const ConvShape shape = one.image.with_batch(static_cast<int>(needed / bytes) + 2);
    const ConvTestData data = random_data(shape, 3);
    const auto elements = static_cast<std::size_t>(shape.output_elements());
    std::vector<float> results[2];
    for (int i = 0; i < 2; ++i) {
      const RegisteredVariant* const stage = find_variant("cpu", i == 0 ? "shifted-rows" : "streamed-output");
      ASSERT_NE(stage, nullptr);
      CpuDevice device;
      const DeviceBuffer output = device.allocate(elements * sizeof(float), "output");
      const auto prepared =
          stage->variant->prepare(device, shape, data.weights.data(), {data.input.data(), output.floats()});
      if (i == 1) {
        EXPECT_NE(prepared->choice().find(one.way), std::string::npos) << prepared->choice();
      }
      prepared->convolve();
      results[i].resize(elements);
      device.copy_to_host(results[i].data(), output.address(), output.bytes());
      EXPECT_EQ(device.memory_violation(), "");
    }
    EXPECT_TRUE(results[0] == results[1]);
  }
}

}  // namespace
}  // namespace convladder
