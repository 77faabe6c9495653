// Launches of clusters and cooperative launches, as SimulatedDevice takes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "simulator/device/launch_checks.hpp"
#include "simulator/device/simulated_device.hpp"
#include "simulator/ptx/parser.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::uint32_t>;

/// A kernel with the parameter `out`, which is %rd1, of 16 words that begin as zero.
struct LaunchedKernel {
  explicit LaunchedKernel(const std::string& body, const std::string& directives = "",
                          const GpuModel& gpu = default_gpu_model())
      : module(ptx::parse_module(
            ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry test(.param .u64 out)\n" + directives +
                "{\n.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
                "ld.param.u64 %rd1, [out];\n" +
                body + "\nret;\n}\n",
            "test.ptx")),
        device({.checkers = {}, .gpu = &gpu, .limits = {}, .ptx_compiler = {}}),
        out(device.allocate(64, "out")) {
    const Words zeros(16);
    device.copy_to_device(out.address(), zeros.data(), 64);
    launch.kernel = device.load(module, module.kernels[0]);
    launch.block = {32};
    const void* const address = out.address();
    launch.arguments.emplace_back(sizeof address);
    std::memcpy(launch.arguments[0].data(), &address, sizeof address);
  }
  Words run(Dim3 grid) {
    launch.grid = grid;
    device.launch(launch);
    Words words(16);
    device.copy_to_host(words.data(), out.address(), 64);
    return words;
  }
  std::string refusal(Dim3 grid) {
    try {
      run(grid);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "none";
  }
  ptx::Module module;
  SimulatedDevice device;
  DeviceBuffer out;
  KernelLaunch launch;
};

TEST(CooperativeLaunch, HasAWorkspaceOfZerosEachTime) {
  // The workspace counts the threads up to now in its last word, and its first is where grid.sync() looks.
  LaunchedKernel kernel(
      "mov.u32 %r1, %envreg2; mov.u32 %r2, %envreg1; mov.b64 %rd2, {%r1, %r2}; setp.eq.s64 %p1, %rd2, 0;\n"
      "@%p1 bra NONE; atom.add.u32 %r3, [%rd2+60], 1; ld.u32 %r4, [%rd2]; add.u32 %r3, %r3, %r4;\n"
      "atom.global.max.u32 %r5, [%rd1], %r3; ret;\nNONE: mov.u32 %r6, 7; st.global.u32 [%rd1+4], %r6;");
  kernel.launch.cooperative = true;
  EXPECT_EQ(kernel.run({3})[0], 95U);
  EXPECT_EQ(kernel.run({3})[0], 95U);
  EXPECT_EQ(kernel.run({3})[1], 0U);
  kernel.launch.cooperative = false;
  EXPECT_EQ(kernel.run({3})[1], 7U);
}

TEST(CooperativeLaunch, IsRefusedWhereTheGpuHoldsFewerBlocks) {
  LaunchedKernel kernel("atom.global.add.u32 %r1, [%rd1], 1;");
  kernel.launch.dynamic_shared_bytes = 200 * 1024;  // so that a multiprocessor holds one
  EXPECT_EQ(kernel.refusal({133}), "none");
  kernel.launch.cooperative = true;
  EXPECT_EQ(kernel.refusal({132}), "none");
  EXPECT_THAT(kernel.refusal({133}), HasSubstr("a cooperative launch of 133 blocks; NVIDIA H100 SXM holds 132"));
  EXPECT_THROW(kernel.run({133}), CooperativeLaunchTooLarge);
}

TEST(SharedMemoryOfALaunch, IsWhatABlockOfTheGpuMayHave) {
  // The last word of what the launch adds behind the kernel's own 64 bytes.
  const std::string touch_end =
      ".shared .b32 own[16]; mov.u32 %r1, own; mov.u32 %r2, %dynamic_smem_size; add.u32 %r1, %r1, %r2;\n"
      "st.shared.u32 [%r1+60], 7; ld.shared.u32 %r3, [%r1+60]; st.global.u32 [%rd1], %r3;";
  LaunchedKernel on_h100(touch_end);
  on_h100.launch.dynamic_shared_bytes = 100 * 1024;
  EXPECT_EQ(on_h100.run({1})[0], 7U);
  on_h100.launch.dynamic_shared_bytes = 227 * 1024 - 64;
  EXPECT_EQ(on_h100.run({1})[0], 7U);
  on_h100.launch.dynamic_shared_bytes += 4;
  EXPECT_EQ(on_h100.refusal({1}),
            "test: 232388 bytes of shared memory beside the kernel's own 64, but a block of NVIDIA H100 SXM may have "
            "232448");
  const auto v100 = std::ranges::find(gpu_models(), "v100", &GpuModel::name);
  LaunchedKernel on_v100(touch_end, "", *v100);
  on_v100.launch.dynamic_shared_bytes = 96 * 1024 - 64;
  EXPECT_EQ(on_v100.run({1})[0], 7U);
  on_v100.launch.dynamic_shared_bytes = 100 * 1024;
  EXPECT_THAT(on_v100.refusal({1}), HasSubstr("but a block of NVIDIA V100 SXM2 may have 98304"));
}

TEST(ClusterLaunch, IsRefusedWhereItsSizesDoNotFit) {
  const std::string count =
      "atom.global.add.u32 %r1, [%rd1], 1; mov.u32 %r2, %cluster_nctarank;\n"
      "st.global.u32 [%rd1+4], %r2;";
  LaunchedKernel any(count);
  EXPECT_EQ(any.run({6})[1], 1U);
  any.launch.cluster = Dim3{3};
  EXPECT_EQ(any.run({6})[1], 3U);
  EXPECT_THAT(any.refusal({7}), HasSubstr("a grid of 7 x 1 x 1 blocks is no multiple of clusters of 3 x 1 x 1"));
  any.launch.cluster = Dim3{17};
  EXPECT_THAT(any.refusal({17}), HasSubstr("clusters of 17 x 1 x 1 blocks; 1 to 16 blocks are possible"));
  any.launch.cluster = Dim3{0};
  EXPECT_THAT(any.refusal({16}), HasSubstr("1 to 16 blocks are possible"));
  LaunchedKernel compiled(count, ".reqnctapercluster 2, 1, 1\n");
  EXPECT_EQ(compiled.run({4})[1], 2U);
  compiled.launch.cluster = Dim3{4};
  EXPECT_THAT(compiled.refusal({4}), HasSubstr("but the kernel was compiled for clusters of 2 x 1 x 1"));
}

TEST(ClusterLaunch, CountsItsGridInClustersIfTheKernelSaysSo) {
  LaunchedKernel kernel("atom.global.add.u32 %r1, [%rd1], 1;", ".reqnctapercluster 2, 1, 1\n.blocksareclusters\n");
  EXPECT_EQ(kernel.run({3})[0], 3U * 2 * 32);
}

TEST(BlockSize, IsTheOneThatTheKernelAsksFor) {
  const std::string nothing;
  struct Case {
    const char* directives;
    Dim3 block;
    bool is_right;
  };
  for (const Case& one :
       {Case{".reqntid 64, 1, 1\n", {64}, true}, Case{".reqntid 64, 1, 1\n", {32}, false},
        Case{".reqntid 64, 1, 1\n", {8, 8}, false}, Case{".reqntid 64\n", {1, 64}, false},
        Case{".reqntid 64\n", {1}, false}, Case{".reqntid 64\n", {65}, false}, Case{".reqntid 64\n", {64}, true},
        Case{".reqntid 8, 4\n", {8, 4}, true}, Case{".reqntid 8, 4\n", {32}, false},
        Case{".reqntid 2, 2, 2\n.minnctapersm 1\n", {2, 2, 2}, true}, Case{".maxntid 64\n", {8, 8}, true},
        Case{".maxntid 64\n", {65}, false}}) {
    LaunchedKernel kernel(nothing, one.directives);
    kernel.launch.block = one.block;
    EXPECT_EQ(kernel.refusal({1}) == "none", one.is_right) << one.directives << one.block.x;
  }
  LaunchedKernel kernel(nothing, ".reqntid 64, 1, 1\n");
  EXPECT_EQ(kernel.refusal({1}), "test: a block of 32 x 1 x 1 threads, but it was compiled for 64 x 1 x 1 (.reqntid)");
}

}  // namespace
}  // namespace convladder::simulated
