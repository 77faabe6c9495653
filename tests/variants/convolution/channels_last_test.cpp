// The transposes between NCHW and NHWC, by the simulated device, against loops.
#if CONVLADDER_HAS_CUDA_FAMILY

#include "variants/convolution/cuda/channels_last.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "devices/ptx_images.hpp"
#include "simulator/device/simulated_device.hpp"

namespace convladder {
namespace {

class ChannelsLast : public testing::TestWithParam<ChannelPlanes> {};

TEST_P(ChannelsLast, ThereAndBack) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  const ChannelPlanes planes = GetParam();
  const auto channels = static_cast<std::size_t>(planes.channels);
  const auto pixels = static_cast<std::size_t>(planes.pixels);
  std::vector<float> plain(static_cast<std::size_t>(planes.images) * channels * pixels);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<float>(i + 1);
  std::vector<float> last(plain.size());
  for (std::size_t image = 0; image < static_cast<std::size_t>(planes.images); ++image) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t p = 0; p < pixels; ++p) {
        last[(image * pixels + p) * channels + c] = plain[(image * channels + c) * pixels + p];
      }
    }
  }
  simulated::SimulatedDevice device;
  const std::size_t bytes = plain.size() * sizeof(float);
  const DeviceBuffer from = device.allocate(bytes, "NCHW");
  const DeviceBuffer to = device.allocate(bytes, "NHWC");
  std::vector<float> found(plain.size());
  device.copy_to_device(from.address(), plain.data(), bytes);
  device.launch(to_channels_last(planes, from.floats(), to.floats()));
  device.copy_to_host(found.data(), to.address(), bytes);
  EXPECT_EQ(found, last);
  std::vector<float> nothing(plain.size());
  device.copy_to_device(from.address(), nothing.data(), bytes);
  device.launch(from_channels_last(planes, to.floats(), from.floats()));
  device.copy_to_host(found.data(), from.address(), bytes);
  EXPECT_EQ(found, plain);
  EXPECT_EQ(device.memory_violation(), "");
}

// Tiles are 32 channels of 64 pixels.
INSTANTIATE_TEST_SUITE_P(Sizes, ChannelsLast,
                         testing::Values(ChannelPlanes{1, 32, 64}, ChannelPlanes{2, 2, 3}, ChannelPlanes{3, 33, 65},
                                         ChannelPlanes{2, 12, 130}, ChannelPlanes{1, 96, 169}, ChannelPlanes{2, 1, 70},
                                         ChannelPlanes{2, 70, 1}));

}  // namespace
}  // namespace convladder

#endif
