// Addresses and sizes at the limits of their bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices/device_error.hpp"
#include "simulator/checkers/initialization_checker.hpp"
#include "simulator/device/simulated_device.hpp"
#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

TEST(SimulatedAddresses, OfSharedMemoryWrapIn32Bits) {
  const Words values = noise(32);
  LaneKernel kernel(
      "ld.global.u32 %r3, [%rd5]; mul.lo.u32 %r2, %r1, 4; sub.u32 %r2, %r2, 256; st.shared.u32 [%r2+256], %r3;\n"
      "cp.async.ca.shared.global [%r2+384], [%rd5], 4; cp.async.wait_all;\n"
      "ld.shared.u32 %r4, [%r2+256]; ld.shared.u32 %r5, [%r2+384]; add.u32 %r4, %r4, %r5; st.global.u32 [%rd4], %r4; "
      "ret;",
      values, 32);
  const Words out = kernel.results(32, 256);
  for (std::size_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], 2 * values[lane]) << lane;
  LaneKernel outside("mov.u32 %r2, 4; ld.shared.u32 %r3, [%r2+-8]; ret;", values, 32);
  EXPECT_THAT(outside.fault(32, 256), HasSubstr("at offset -4 of 256 bytes of shared memory"));
}

TEST(SimulatedAddresses, SharedMemoryIsNotCutTo32Bits) {
  SimulatedDevice device;
  const ptx::Module module = ptx::parse_module(kernel_text("", ".shared .b8 own[64]; ret;"), "test.ptx");
  KernelLaunch launch;
  launch.kernel = device.load(module, module.kernels[0]);
  const auto error = [&] {
    try {
      device.launch(launch);
    } catch (const DeviceError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(error(), "none");
  launch.dynamic_shared_bytes = (std::size_t{1} << 32) + 16;
  EXPECT_THAT(error(), HasSubstr("4294967312 bytes of shared memory"));
  launch.dynamic_shared_bytes = 0xffffffe0U;  // with the kernel's own 64 it is 32 in 32 bits
  EXPECT_THAT(error(), HasSubstr("beside the kernel's own 64"));
  launch.dynamic_shared_bytes = 0;
  launch.block = {4, 0x80000000U, 0x80000000U};  // 2^64 threads
  EXPECT_THAT(error(), HasSubstr("a block of 4 x 2147483648 x 2147483648"));
  launch.block = {};
  launch.grid = {1, 65536, 1};
  EXPECT_THAT(error(), HasSubstr("a grid of 1 x 65536 x 1; at most 2147483647 x 65535 x 65535"));
}

TEST(SimulatedAddresses, InitcheckSeesABufferBetweenVariables) {
  // Lane 0 writes to a variable, lane 1 to a buffer behind it, lane 2 to a variable behind that; then lane 1 reads.
  KernelRun kernel(kernel_text(".param .u64 low, .param .u64 middle, .param .u64 high",
                               ".reg .b64 %d<5>; .reg .b32 %r; .reg .pred %p<3>;\nmov.u32 %r, %tid.x; "
                               "setp.eq.u32 %p1, %r, 1; setp.eq.u32 %p2, %r, 2;\n"
                               "ld.param.u64 %d1, [low]; ld.param.u64 %d2, [middle]; ld.param.u64 %d3, [high];\n"
                               "selp.b64 %d4, %d2, %d1, %p1; selp.b64 %d4, %d3, %d4, %p2;\n"
                               "st.global.u32 [%d4], %r; @%p1 ld.global.u32 %r, [%d4]; ret;"));
  const std::uint64_t places[] = {kernel.array(Words(4), "low"), kernel.array(Words(4), "middle"),
                                  kernel.array(Words(4), "high")};
  for (std::size_t i = 0; i < 3; ++i) kernel.set(i, places[i]);
  WrittenMemory written;
  written.allocated(places[1], 16);
  LaunchConfiguration configuration;
  configuration.block = {3};
  configuration.collect_findings = true;
  std::optional<InitializationChecker> checker;
  const LaunchResult result = kernel.launch(configuration, [&](FindingLog& findings) {
    return std::vector<AccessObserver*>{&checker.emplace(written, findings)};
  });
  EXPECT_TRUE(result.findings.empty());
}

}  // namespace
}  // namespace convladder::simulated
