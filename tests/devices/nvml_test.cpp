#if CONVLADDER_HAS_CUDA

#include "devices/cuda/nvml.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

TEST(Nvml, NamesEveryReasonAndLeavesIdlingOut) {
  EXPECT_TRUE(throttle_reason_names(0).empty());
  EXPECT_TRUE(throttle_reason_names(0x1).empty());
  EXPECT_EQ(throttle_reason_names(0x1 | 0x4 | 0x40),
            (std::vector<std::string>{"software power cap", "hardware thermal slowdown"}));
  EXPECT_EQ(throttle_reason_names(0x1ff).size(), 8U);
}

TEST(Nvml, AGpuThatIsNotThereHasAnEmptyState) {
  const DeviceState state = NvmlDevice("ffff:ff:ff.0").state();
  EXPECT_FALSE(state.clock_mhz.has_value());
  EXPECT_FALSE(state.temperature_celsius.has_value());
  EXPECT_TRUE(state.throttle_reasons.empty());
}

}  // namespace
}  // namespace convladder

#endif  // CONVLADDER_HAS_CUDA
