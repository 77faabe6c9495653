// Every CUDA operator on the simulated device, from the PTX of each compiler of this build, with all checkers on.
#include <gtest/gtest.h>

#include "devices/kernel_resources.hpp"
#include "devices/ptx_images.hpp"
#include "network/operator_test_data.hpp"
#include "sanitized.hpp"
#include "simulator/device/simulated_device.hpp"

namespace convladder {
namespace {

simulated::SimulatedDeviceOptions checked_options(const std::string& compiler) {
  simulated::SimulatedDeviceOptions options;
  options.checkers = simulated::CheckerSet::all();
  options.with_caches = false;
  options.ptx_compiler = compiler;
  return options;
}

/// The output of one operator; what the checkers find is a failure.
std::vector<float> checked_output(const ProblemVariant& registered, const std::string& compiler,
                                  const ProblemSize& shape, const OperatorTestData& data, bool in_place) {
  simulated::SimulatedDevice device(checked_options(compiler));
  // Not poisoned: the host would have written it, and initcheck is to see that the kernel does.
  std::vector<float> output = operator_output(device, *registered.variant, shape, data, in_place, false);
  for (const simulated::Finding& finding : device.take_findings()) ADD_FAILURE() << simulated::to_text(finding);
  EXPECT_TRUE(device.leaks().empty());
  return output;
}

/// Runs every CUDA operator of the shape's type that has kernels from every compiler's PTX.
void expect_simulated_right(const ProblemSize& shape, const OperatorTestData& data, bool exact = false) {
  ASSERT_EQ(size_error(shape), "") << size_name(shape);
  for (const ProblemVariant& registered : shape.problem->variants()) {
    if (registered.info.family != "cuda" || registered.info.is_library()) continue;
    ASSERT_EQ(registered.variant->unsupported_reason(shape), "");
    ASSERT_FALSE(registered.variant->launch_plan(shape).empty());
    const double tolerance = exact ? 0 : registered.variant->tolerance();
    for (const PtxImages& images : ptx_images()) {
      for (const bool in_place : {false, true}) {
        if (in_place && !shape.problem->works_in_place()) continue;
        SCOPED_TRACE(fmt::format("{} on {} batch {} by {}{}", registered.info.name, size_name(shape), shape.batch,
                                 images.compiler, in_place ? ", in place" : ""));
        const std::vector<float> output = checked_output(registered, images.compiler, shape, data, in_place);
        EXPECT_EQ(operator_failure(shape, data, output, tolerance), "");
      }
    }
  }
}

class OperatorsOnTheSimulatedDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  }
};

class OperatorsOfABatchOnTheSimulatedDevice : public OperatorsOnTheSimulatedDevice,
                                              public testing::WithParamInterface<int> {};

TEST_P(OperatorsOfABatchOnTheSimulatedDevice, AreRightOnEveryShape) {
  for (const ProblemSize& shape : operator_test_shapes(GetParam())) {
    if (kSanitized && shape.input_elements() + shape.constant_elements() > 20000) continue;
    expect_simulated_right(shape, operator_test_data(shape, OperatorNumbers::real));
    if (!is_fully_connected(shape)) continue;
    expect_simulated_right(shape, operator_test_data(shape, OperatorNumbers::integers), true);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, OperatorsOfABatchOnTheSimulatedDevice, testing::Values(1, 3, 8),
                         [](const auto& info) { return fmt::format("B{}", info.param); });

/// Batches from 33 on take tiles: full ones, and ones that hang over in images, outputs and inputs.
TEST_F(OperatorsOnTheSimulatedDevice, FullyConnectedLayersOfLargeBatchesAreRight) {
  for (const bool has_bias : {false, true}) {
    for (const ProblemSize& shape :
         {fully_connected_shape(64, {1, 8, 8}, 64, has_bias), fully_connected_shape(33, {1, 1, 1}, 32, has_bias),
          fully_connected_shape(67, {3, 7, 5}, 131, has_bias), fully_connected_shape(65, {2, 1, 37}, 65, has_bias),
          fully_connected_shape(40, {1, 1, 90}, 10, has_bias)}) {
      if (kSanitized && shape.batch > 40) continue;
      expect_simulated_right(shape, operator_test_data(shape, OperatorNumbers::real));
      expect_simulated_right(shape, operator_test_data(shape, OperatorNumbers::integers), true);
    }
  }
}

/// Products that are all positive make the sums grow, and with them what is rounded.
TEST_F(OperatorsOnTheSimulatedDevice, LongSumsKeepTheirDigits) {
  const ActivationShape inputs{24, kSanitized ? 9 : 29, 29};
  for (const ProblemSize& shape :
       {fully_connected_shape(1, inputs, 4, true), fully_connected_shape(33, inputs, kSanitized ? 3 : 32, true)}) {
    expect_simulated_right(shape, operator_test_data(shape, OperatorNumbers::positive));
  }
}

TEST_F(OperatorsOnTheSimulatedDevice, TanhIsRightFromDenormalsToInfinity) {
  std::vector<float> values = {0.0F, std::numeric_limits<float>::infinity(), std::nanf(""),
                               std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()};
  for (int i = 0; i < 20000; ++i) values.push_back(static_cast<float>(i) * 1e-3F);
  for (float value = 1e-38F; value < 1e38F; value *= 1.37F) values.push_back(value);
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  const ActivationShape sizes{1, 1, static_cast<int>(values.size())};
  for (const char* const type : {"tanh", "relu"}) {
    expect_simulated_right(same_shape(type, 1, sizes), {values, {}, {}});
  }
}

TEST_F(OperatorsOnTheSimulatedDevice, HideNoNaN) {
  const float nan = std::nanf("");
  expect_simulated_right(pool_shape(1, {1, 2, 6}, 2, 2), {{1, nan, 2, 3, 4, 5, 6, 7, 8, 9, nan, 11}, {}, {}});
  expect_simulated_right(pool_shape(1, {1, 3, 5}, 3, 2), {{nan, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5}, {}, {}});
  for (const std::size_t place : {0, 1, 19, 20, 33, 70, 99}) {
    OperatorTestData data{std::vector<float>(100, 1.5F), {}, {}};
    data.input[place] = nan;
    expect_simulated_right(same_shape("softmax", 2, {50, 1, 1}), data);
  }
  const ProblemSize dense = fully_connected_shape(2, {1, 1, 9}, 5, true);
  OperatorTestData data = operator_test_data(dense, OperatorNumbers::real);
  data.input[4] = nan;
  expect_simulated_right(dense, data);
}

TEST_F(OperatorsOnTheSimulatedDevice, SoftmaxOfHugeAndOfDistantScores) {
  const float infinity = std::numeric_limits<float>::infinity();
  expect_simulated_right(same_shape("softmax", 2, {4, 1, 1}),
                         {{3e38F, -3e38F, 2e38F, 3e38F, -infinity, 0, -88, -500}, {}, {}});
  expect_simulated_right(same_shape("softmax", 1, {3, 1, 1}), {{1, infinity, 2}, {}, {}});
}

TEST_F(OperatorsOnTheSimulatedDevice, RefuseAGridThatNoGpuTakes) {
  const ProblemSize shape = fully_connected_shape(1, {1, 1, 1}, 8 * 65535 + 1, false);
  const Variant& ours = *find_variant(*shape.problem, "cuda", "warps-or-tiles")->variant;
  EXPECT_EQ(ours.unsupported_reason(shape), "a grid of 1x65536x1 blocks; a GPU allows at most 2147483647x65535x65535");
}

TEST_F(OperatorsOnTheSimulatedDevice, TheirKernelsHaveNamesAndResources) {
  for (const ProblemSize& shape : operator_test_shapes(40)) {
    for (const KernelLaunch& launch : default_variant("cuda", shape)->variant->launch_plan(shape)) {
      EXPECT_TRUE(kernel_display_name(launch.kernel).starts_with("convladder::")) << size_name(shape);
#if CONVLADDER_HAS_CUDA
      ASSERT_FALSE(kernel_resources(launch.kernel).empty()) << kernel_display_name(launch.kernel);
      for (const KernelResources& resources : kernel_resources(launch.kernel)) {
        EXPECT_EQ(resources.spill_store_bytes, 0) << resources.demangled << " on " << resources.architecture;
      }
#endif
    }
  }
}

}  // namespace
}  // namespace convladder
