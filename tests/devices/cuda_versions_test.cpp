#if CONVLADDER_HAS_CUDA

#include "devices/cuda/cuda_versions.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

TEST(CudaVersions, ADriverThatIsTooOldIsNamedWithBothVersions) {
  EXPECT_EQ(driver_too_old(12040, 13000, "550.54.14"),
            "driver 550.54.14 runs CUDA up to 12.4; this program needs CUDA 13.0, driver 580 or later");
  EXPECT_EQ(driver_too_old(11080, 12090, ""),
            "the driver runs CUDA up to 11.8; this program needs CUDA 12.9, driver 525 or later");
  EXPECT_EQ(driver_too_old(0, 13000, "470.1"), "driver 470.1; this program needs CUDA 13.0, driver 580 or later");
  EXPECT_EQ(driver_too_old(13000, 14010, "580.1"), "driver 580.1 runs CUDA up to 13.0; this program needs CUDA 14.1");
}

TEST(CudaVersions, WithoutADriverItSaysSo) {
  EXPECT_EQ(driver_too_old(0, 13000, ""), "no NVIDIA driver here; this program needs CUDA 13.0, driver 580 or later");
}

TEST(CudaVersions, MachineCodeIsForItsGenerationFromItsMinorNumberOn) {
  EXPECT_TRUE(has_machine_code("75-real,90-real,120-virtual", 9, 0));
  EXPECT_TRUE(has_machine_code("80", 8, 9));
  EXPECT_TRUE(has_machine_code("120-real", 12, 1));
  EXPECT_FALSE(has_machine_code("86-real", 8, 0));
  EXPECT_FALSE(has_machine_code("75-virtual", 7, 5)) << "PTX";
  EXPECT_FALSE(has_machine_code("75-real,80-real", 9, 0));
  EXPECT_FALSE(has_machine_code("", 9, 0));
}

TEST(CudaVersions, CodeOfOneArchitectureAloneRunsThereOnly) {
  EXPECT_TRUE(has_machine_code("90a-real", 9, 0));
  EXPECT_FALSE(has_machine_code("100a-real", 10, 3));
  EXPECT_TRUE(has_machine_code("100f-real", 10, 3));
}

}  // namespace
}  // namespace convladder

#endif  // CONVLADDER_HAS_CUDA
