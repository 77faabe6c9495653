// Names and resources of the kernels in this very program, by host address and without a driver.
#include <gtest/gtest.h>

#include <set>

#include "devices/kernel_resources.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

TEST(KernelNames, AnAddressThatIsNoKernelHasNone) {
  const int no_kernel = 0;
  EXPECT_EQ(kernel_display_name(&no_kernel), "");
  EXPECT_TRUE(kernel_resources(&no_kernel).empty());
  EXPECT_TRUE(kernel_resources(nullptr).empty());
}

TEST(KernelNames, DemangleLeavesOtherTextAlone) {
  EXPECT_EQ(demangle("_Z1fi"), "f(int)");
  EXPECT_EQ(demangle("main"), "main");
  for (const char* const name : {"f", "i", "d", "v", "Pf", "_", "x"}) EXPECT_EQ(demangle(name), name);  // not types
  EXPECT_EQ(demangle(""), "");
}

#if CONVLADDER_HAS_CUDA_FAMILY

const ConvShape five_by_five{
    .batch = 1000, .in_channels = 1, .height = 28, .width = 28, .out_channels = 50, .kernel = 5};

TEST(KernelNames, EveryCudaVariantsKernelHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    if (registered.info.family != "cuda" || !registered.variant->unsupported_reason(five_by_five).empty()) continue;
    // Some ideas that are left out are left out of the launch plan, and the kernel is the same.
    if (!registered.info.leaves_out.empty()) continue;
    std::set<std::string> of_variant;  // which may launch one of them several times
    for (const KernelLaunch& launch : registered.variant->launch_plan(five_by_five)) {
      const std::string name = kernel_display_name(launch.kernel);
      EXPECT_TRUE(name.starts_with("convladder::")) << registered.info.name << ": " << name;
      EXPECT_EQ(name.find('('), std::string::npos) << name;
      if (of_variant.insert(name).second) {
        EXPECT_TRUE(names.insert(name).second) << registered.info.name << " and another variant: " << name;
      }
    }
  }
  EXPECT_GE(names.size(), 6U);
  EXPECT_TRUE(names.contains("convladder::conv_compile_time<5, 1>"));
}

#if CONVLADDER_HAS_CUDA

TEST(KernelResources, PtxasReportedEveryKernelForEveryArchitecture) {
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    // Without an idea that saves registers a kernel may spill: that is a part of what the idea is worth.
    if (registered.info.family != "cuda" || !registered.info.leaves_out.empty()) continue;
    for (const KernelLaunch& launch : registered.variant->launch_plan(five_by_five)) {
      const std::vector<KernelResources> resources = kernel_resources(launch.kernel);
      ASSERT_FALSE(resources.empty()) << registered.info.name;
      const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
      std::set<std::string> architectures;
      for (const KernelResources& kernel : resources) {
        architectures.insert(kernel.architecture);
        EXPECT_GT(kernel.registers, 0) << kernel.demangled;
        // 65536 registers per multiprocessor: a block that needs more cannot be launched.
        EXPECT_LE(static_cast<unsigned>(kernel.registers) * threads, 65536U) << kernel.demangled;
        EXPECT_EQ(kernel.spill_store_bytes, 0) << kernel.demangled << " on " << kernel.architecture;
        EXPECT_EQ(kernel.spill_load_bytes, 0) << kernel.demangled << " on " << kernel.architecture;
      }
      EXPECT_EQ(architectures.size(), resources.size()) << "an architecture twice";
      EXPECT_TRUE(architectures.contains("sm_90"));
    }
  }
}

#endif  // CONVLADDER_HAS_CUDA
#endif  // CONVLADDER_HAS_CUDA_FAMILY

}  // namespace
}  // namespace convladder
