#include "harness/measure/plan/step_timeout.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

DeviceKind gpu() {
  DeviceKind kind{.name = "gpu", .family = "cuda"};
  kind.speed = [] { return DeviceSpeed{.flop_per_second = 50e12, .start_seconds = 20}; };
  return kind;
}

TEST(StepTimeout, GrowsWithTheWorkUnlessItIsGiven) {
  const DeviceKind host{.name = "host", .family = "cpu"};
  const DeviceKind counting{.name = "counting", .family = "cuda", .has_clock = false};
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, {.flop = 0.02e9, .bytes = 1e9}, host), 60 + 5 * 0.02);
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, {.flop = 0.02e9}, counting), 10 * (60 + 5 * 0.02));
  EXPECT_EQ(step_timeout_seconds(0.1, {.flop = 1e12}, counting), 0.1);
  EXPECT_EQ(step_timeout_seconds(0.1, {.flop = 1e12}, gpu()), 0.1);
}

TEST(StepTimeout, AGpuHasSeconds) {
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, {}, gpu()), 20);
  // lenet72.conv1 with 10000 images, which had 17 minutes: 200 GFLOP, 4 GB.
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, {.flop = 200e9, .bytes = 4e9}, gpu()), 20 + 4 + 16);
}

TEST(StepTimeout, AGpuThatDoesNotAnswerOrIsNoneHasTheHosts) {
  DeviceKind kind = gpu();
  kind.speed = [] { return DeviceSpeed(); };
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, {.flop = 1e9}, kind), 65);
  kind = gpu();
  kind.has_virtual_clock = [] { return true; };  // the stand-in executes instruction by instruction
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, {.flop = 1e9}, kind), 650);
}

}  // namespace
}  // namespace convladder
