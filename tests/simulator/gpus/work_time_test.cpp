#include "simulator/gpus/work_time.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

TEST(WorkTime, IsTheRooflineOfTheGpu) {
  const GpuFacts& gpu = *find_gpu("h100");
  // 2 * 4096^3 operations at 67 TFLOP/s are 2.05 ms; 989 TFLOP/s in half precision.
  const double operations = 2.0 * 4096 * 4096 * 4096;
  const Range in_float = predict_work(gpu, {.fp32 = operations, .bytes = 3 * 4.0 * 4096 * 4096});
  EXPECT_NEAR(in_float.low, operations / 67e3, 0.01 * in_float.low);
  EXPECT_GT(in_float.high, 2 * in_float.low);
  const Range in_half = predict_work(gpu, {.tensor_half = operations});
  EXPECT_NEAR(in_half.low, operations / 1070e3, 0.02 * in_half.low);
  const Range in_double = predict_work(gpu, {.fp64 = operations});
  EXPECT_GE(in_double.low, in_float.low * 0.99);
  // What is only moved takes the memory's time.
  const Range moved = predict_work(gpu, {.fp32 = 1e6, .bytes = 1e9});
  EXPECT_NEAR(moved.low, 1e9 / 3350, 0.02 * moved.low);
}

TEST(WorkTime, CostsALaunchWhereThereIsLittleToDo) {
  for (const GpuFacts& gpu : gpu_facts()) {
    const Range ns = predict_work(gpu, {.fp32 = 8, .bytes = 32});
    EXPECT_GT(ns.low, gpu.launch_overhead_ns.low) << gpu.name;
    EXPECT_LT(ns.high, 20'000) << gpu.name;
    EXPECT_GT(predict_work(gpu, {.steps = 100}).low, 10 * ns.low) << gpu.name;
  }
}

}  // namespace
}  // namespace convladder
