// The kernels that reach a device's ceilings do the work that they say, and little besides.
#include "variants/ceilings/ceilings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "devices/cpu/cpu_device.hpp"
#include "devices/ptx_images.hpp"
#include "expect_error.hpp"
#include "simulator/device/simulated_device.hpp"
#include "support/errors.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {
namespace {

double counted(const std::vector<KernelCounters>& launches, std::string_view name) {
  double sum = 0;
  for (const KernelCounters& launch : launches) {
    const auto found =
        std::ranges::find(launch.values, name, [](const auto& value) -> std::string_view { return value.first; });
    if (found != launch.values.end()) sum += found->second;
  }
  return sum;
}

TEST(Ceilings, BuffersAreBeyondTheCacheWithinTheMemory) {
  constexpr std::size_t kMebibyte = 1 << 20;
  EXPECT_EQ(ceiling_buffer_bytes(32 * kMebibyte, 4096 * kMebibyte, 64), 128 * kMebibyte);
  EXPECT_EQ(ceiling_buffer_bytes(0, 4096 * kMebibyte, 64), 64 * kMebibyte) << "of an unknown cache";
  EXPECT_EQ(ceiling_buffer_bytes(512 * kMebibyte, 800 * kMebibyte, 64), 100 * kMebibyte) << "an eighth of what is free";
  EXPECT_EQ(ceiling_buffer_bytes(0, 0, 192), 192U) << "never nothing";
  EXPECT_EQ(ceiling_buffer_bytes(0, 8001, 192), 960U);
}

TEST(Ceilings, BuffersAreSmallerIfTheEnvironmentSaysSo) {
  constexpr std::size_t kMebibyte = 1 << 20;
  constexpr const char* kVariable = "CONVLADDER_CEILING_MIB";
  setenv(kVariable, "3", 1);
  EXPECT_EQ(ceiling_buffer_bytes(32 * kMebibyte, 4096 * kMebibyte, 64), 3 * kMebibyte);
  EXPECT_EQ(ceiling_buffer_bytes(0, 8 * kMebibyte, 64), kMebibyte) << "never larger";
  setenv(kVariable, "", 1);
  EXPECT_EQ(ceiling_buffer_bytes(0, 4096 * kMebibyte, 64), 64 * kMebibyte);
  setenv(kVariable, "0", 1);
  expect_error<UserError>([] { ceiling_buffer_bytes(0, 4096 * kMebibyte, 64); }, {kVariable, "whole number", "'0'"});
  unsetenv(kVariable);
}

TEST(Ceilings, OfTheProcessorSayWhatTheyDid) {
  CpuDevice device;
  const auto ceilings = find_ceilings("cpu")(device, 0);
  const InstructionSet set = chosen_instruction_set();
  EXPECT_EQ(ceilings->choice().find(set.name), 0U) << ceilings->choice();
  const double work = ceilings->multiply_add();
  EXPECT_GT(work, 0);
  EXPECT_EQ(static_cast<std::int64_t>(work) % (2 * set.lanes), 0) << "whole vectors of multiply-adds";
  EXPECT_EQ(ceilings->store(), static_cast<double>(ceilings->buffer_bytes()));
  EXPECT_EQ(ceilings->copy(), 2.0 * static_cast<double>(ceilings->buffer_bytes()));
  EXPECT_EQ(device.memory_violation(), "");
}

TEST(Ceilings, OfAGpuAreCountedOnTheSimulatedDevice) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  for (const PtxImages& images : ptx_images()) {
    SCOPED_TRACE(images.compiler);
    simulated::SimulatedDeviceOptions options;
    options.ptx_compiler = images.compiler;
    simulated::SimulatedDevice device(options);
    device.set_grid_window(GridWindow{0, 2});  // two blocks of each launch, 256 threads in each
    const auto ceilings = find_ceilings("cuda")(device, 0);
    device.take_counters();

    EXPECT_EQ(ceilings->multiply_add(), 2.0 * 32768 * 256 * 16 * 512) << "of all blocks";
    const auto multiply_adds = device.take_counters();
    const double fused = counted(multiply_adds, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum");
    EXPECT_EQ(fused, 2.0 * 256 * 16 * 512);
    EXPECT_LT(counted(multiply_adds, "smsp__thread_inst_executed_pred_on.sum"), 1.03 * fused);

    EXPECT_EQ(ceilings->store(), 4.0 * static_cast<double>(ceilings->buffer_bytes())) << "in four launches";
    const auto stores = device.take_counters();
    constexpr double kSectors = 4 * 2.0 * 256 * 16 / 32;
    EXPECT_EQ(counted(stores, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), kSectors);
    EXPECT_EQ(counted(stores, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 0);

    EXPECT_EQ(ceilings->copy(), 4 * 2.0 * static_cast<double>(ceilings->buffer_bytes()));
    const auto copies = device.take_counters();
    EXPECT_EQ(counted(copies, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), kSectors);
    EXPECT_EQ(counted(copies, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), kSectors);
  }
}

}  // namespace
}  // namespace convladder
