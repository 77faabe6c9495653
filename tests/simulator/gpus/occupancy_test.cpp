// Occupancy: values by hand, and every rule against NVIDIA's own calculator where the toolkit is there.
#include "simulator/gpus/occupancy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#if __has_include(<cuda_occupancy.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#define CONVLADDER_HAS_CUDA_OCCUPANCY 1
#endif

namespace convladder {
namespace {

using testing::ElementsAre;

Occupancy of(const char* gpu, const BlockNeeds& needs) { return occupancy(find_gpu(gpu)->occupancy, needs); }

TEST(Occupancy, IsLimitedByWhatRunsOutFirst) {
  // 8 warps a block: 64 / 8.
  const Occupancy full = of("h100", {.threads = 256, .registers = 32, .shared_bytes = 0});
  EXPECT_EQ(full.blocks, 8);
  EXPECT_EQ(full.share, 1);
  EXPECT_THAT(full.limited_by, ElementsAre("warps", "registers"));  // 65536 / (256 * 32) is 8 as well
  // 57 registers: 1824 a warp, rounded up to 2048; 16384 / 2048 = 8 warps in each partition, 32 in all; one block.
  const Occupancy registers = of("h100", {.threads = 1024, .registers = 57, .shared_bytes = 1844});
  EXPECT_EQ(registers.blocks, 1);
  EXPECT_EQ(registers.share, 0.5);
  EXPECT_THAT(registers.limited_by, ElementsAre("registers"));
  // A K80 has twice the registers.
  EXPECT_EQ(of("k80", {.threads = 1024, .registers = 57, .shared_bytes = 1844}).blocks, 2);
  // 33168 and the system's 1024 bytes, rounded up to 34304: 233472 / 34304 = 6; a V100 takes none: 98304 / 33280 = 2.
  EXPECT_THAT(of("h100", {.threads = 64, .registers = 32, .shared_bytes = 33168}).limited_by,
              ElementsAre("shared memory"));
  EXPECT_EQ(of("h100", {.threads = 64, .registers = 32, .shared_bytes = 33168}).blocks, 6);
  EXPECT_EQ(of("v100", {.threads = 64, .registers = 32, .shared_bytes = 33168}).blocks, 2);
  EXPECT_THAT(of("k80", {.threads = 32, .registers = 16, .shared_bytes = 0}).limited_by, ElementsAre("blocks"));
}

TEST(Occupancy, IsNoneForWhatCannotBeLaunched) {
  EXPECT_EQ(of("h100", {.threads = 1056, .registers = 16, .shared_bytes = 0}).blocks, 0);
  EXPECT_EQ(of("h100", {.threads = 1024, .registers = 65, .shared_bytes = 0}).blocks, 0);
  const Occupancy shared = of("k80", {.threads = 32, .registers = 16, .shared_bytes = 48 * 1024 + 1});
  EXPECT_EQ(shared.blocks, 0);
  EXPECT_THAT(shared.limited_by, ElementsAre("shared memory"));
}

TEST(Occupancy, DoesWithoutRegisters) {
  EXPECT_EQ(of("h100", {.threads = 1024, .registers = std::nullopt, .shared_bytes = 0}).blocks, 2);
}

#ifdef CONVLADDER_HAS_CUDA_OCCUPANCY
int by_nvidia(const GpuFacts& gpu, const BlockNeeds& needs) {
  const OccupancyLimits& limits = gpu.occupancy;
  cudaOccDeviceProp device;
  device.computeMajor = gpu.compute_capability.at(0) - '0';
  device.computeMinor = gpu.compute_capability.at(2) - '0';
  device.maxThreadsPerBlock = limits.threads_per_block;
  device.maxThreadsPerMultiprocessor = 32 * limits.warps_per_multiprocessor;
  device.regsPerBlock = limits.registers_per_block;
  device.regsPerMultiprocessor = limits.registers_per_multiprocessor;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 * 1024;
  device.sharedMemPerMultiprocessor = static_cast<std::size_t>(limits.shared_per_multiprocessor);
  device.numSms = gpu.multiprocessors;
  device.sharedMemPerBlockOptin = static_cast<std::size_t>(limits.shared_per_block);
  device.reservedSharedMemPerBlock = static_cast<std::size_t>(limits.shared_reserved_per_block);
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = limits.threads_per_block;
  kernel.numRegs = needs.registers.value_or(0);
  kernel.sharedSizeBytes = 0;
  kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = needs.shared_bytes;
  const cudaOccDeviceState state;
  cudaOccResult result{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &device, &kernel, &state, static_cast<int>(needs.threads), needs.shared_bytes);
  EXPECT_EQ(error, CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}
#endif

TEST(Occupancy, IsWhatNvidiasCalculatorSays) {
#ifdef CONVLADDER_HAS_CUDA_OCCUPANCY
  int compared = 0;
  for (const GpuFacts& gpu : gpu_facts()) {
    for (std::uint64_t threads = 1; threads <= 1024; threads += threads < 64 ? 31 : 32) {
      for (int registers = 1; registers <= 255; registers += 2) {
        for (const std::uint64_t shared :
             {0, 1, 1024, 1844, 3756, 9000, 16384, 33168, 49152, 49153, 98304, 166912, 166913, 232448, 232449}) {
          const BlockNeeds needs{threads, registers, shared};
          ASSERT_EQ(occupancy(gpu.occupancy, needs).blocks, by_nvidia(gpu, needs))
              << gpu.name << ": " << threads << " threads, " << registers << " registers, " << shared << " bytes";
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 300000);
#else
  GTEST_SKIP() << "cuda_occupancy.h is not there: no CUDA toolkit in this build";
#endif
}

}  // namespace
}  // namespace convladder
