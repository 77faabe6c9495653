// Weights in constant memory: one array for all launches of the module, which each launch has filled for itself.
#if CONVLADDER_HAS_CUDA_FAMILY

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "devices/device_error.hpp"
#include "devices/ptx_images.hpp"
#include "expect_error.hpp"
#include "simulator/device/simulated_device.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {
namespace {

const Variant& constant_weights() { return *find_variant(convolution_problem(), "cuda", "constant-weights")->variant; }

/// A layer on a device, of small integers, with its reference.
class PreparedLayer {
 public:
  PreparedLayer(Device& device, const ConvShape& shape, int seed) : device_(device), shape_(shape) {
    std::vector<float> input(static_cast<std::size_t>(shape.input_elements()));
    std::vector<float> weights(static_cast<std::size_t>(shape.weight_elements()));
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>((i * 7 + 3) % 9) - 4;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<float>((i * 5 + static_cast<std::size_t>(seed)) % 7) - 3;
    }
    expected_ = reference_convolution(shape, input.data(), weights.data()).value;
    input_ = device.allocate(input.size() * sizeof(float), "input");
    output_ = device.allocate(expected_.size() * sizeof(float), "output");
    device.copy_to_device(input_.address(), input.data(), input_.bytes());
    prepared_ = constant_weights().prepare(device, shape,
                                           conv_tensors(shape, input_.floats(), weights.data(), output_.floats()));
  }
  /// Outputs that are not the reference's after one convolution.
  std::size_t wrong() {
    std::vector<float> output(expected_.size(), std::nanf(""));
    device_.copy_to_device(output_.address(), output.data(), output_.bytes());
    prepared_->run();
    device_.copy_to_host(output.data(), output_.address(), output_.bytes());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < output.size(); ++i) wrong += output[i] == expected_[i] ? 0 : 1;
    return wrong;
  }

 private:
  Device& device_;
  ConvShape shape_;
  std::vector<double> expected_;
  DeviceBuffer input_;
  DeviceBuffer output_;
  std::unique_ptr<PreparedVariant> prepared_;
};

class ConstantWeights : public testing::Test {
 protected:
  void SetUp() override {
    if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  }
};

TEST_F(ConstantWeights, AreThoseOfTheLayerThatIsLaunched) {
  for (const PtxImages& images : ptx_images()) {
    SCOPED_TRACE(images.compiler);
    simulated::SimulatedDeviceOptions options;
    options.ptx_compiler = images.compiler;
    simulated::SimulatedDevice device(options);
    PreparedLayer first(device, {1, 2, 9, 11, 3, 5}, 1);
    PreparedLayer second(device, {1, 2, 9, 11, 3, 5}, 4);
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_EQ(first.wrong(), 0U);
      EXPECT_EQ(second.wrong(), 0U);
    }
  }
}

TEST_F(ConstantWeights, ThatDoNotFitTakeSeveralLaunches) {
  const std::size_t most = 64 * 1024;
  const ConvShape wide{1, 32, 7, 7, 50, 5};              // 20 maps of 3200 bytes fit
  const ConvShape groups{1, 48, 6, 6, 40, 5, 1, 0, 2};   // 27 maps of 2400 bytes: those of a group, but not all
  const ConvShape together{1, 4, 6, 6, 40, 5, 1, 0, 2};  // all groups at once
  const std::map<std::size_t, ConvShape> by_launches = {{3, wide}, {2, groups}, {1, together}};
  for (const auto& [launches, shape] : by_launches) {
    SCOPED_TRACE(shape_name(shape));
    ASSERT_EQ(constant_weights().unsupported_reason(shape), "");
    const std::vector<KernelLaunch> plan = constant_weights().launch_plan(shape);
    EXPECT_EQ(plan.size(), launches);
    std::size_t bytes = 0;
    for (const KernelLaunch& launch : plan) {
      ASSERT_EQ(launch.variables.size(), 1U);
      EXPECT_LE(launch.variables[0].bytes, most);
      bytes += launch.variables[0].bytes;
    }
    EXPECT_EQ(bytes, static_cast<std::size_t>(shape.weight_elements()) * sizeof(float));
    for (const PtxImages& images : ptx_images()) {
      simulated::SimulatedDeviceOptions options;
      options.ptx_compiler = images.compiler;
      simulated::SimulatedDevice device(options);
      EXPECT_EQ(PreparedLayer(device, shape, 2).wrong(), 0U) << images.compiler;
    }
  }
}

TEST_F(ConstantWeights, AreAskedOfTheConstantCacheByAWarpAtOnce) {
  const ConvShape shape{1, 2, 9, 11, 3, 5};
  simulated::SimulatedDevice device;
  PreparedLayer layer(device, shape, 1);
  ASSERT_EQ(layer.wrong(), 0U);
  const std::vector<KernelCounters> counters = device.take_counters();
  ASSERT_EQ(counters.size(), 1U);
  std::map<std::string, double> values(counters[0].values.begin(), counters[0].values.end());
  const double warps = 2;  // 5 x 7 pixels, a thread for each
  EXPECT_EQ(values.at("idc__requests.sum"), warps * 3 * 2 * 5 * 5) << "one for each tap of each map";
  EXPECT_EQ(values.at("smsp__sass_data_bytes_mem_global_op_ld.sum"), 4.0 * 2 * 9 * 11) << "the input alone";
}

TEST_F(ConstantWeights, AVariableTakesWhatFitsAndOnlyOfItsModule) {
  simulated::SimulatedDevice device;
  const DeviceBuffer source = device.allocate(128 * 1024, "weights");
  std::vector<KernelLaunch> plan = constant_weights().launch_plan(ConvShape{1, 1, 8, 8, 2, 5});
  plan[0].variables[0].source = source.address();
  plan[0].variables[0].bytes = 64 * 1024 + 4;
  expect_error<DeviceError>([&] { device.launch(plan[0]); },
                            {"convladder::constant_weights", "65540 bytes do not fit into its 65536"});
  plan[0].variables[0].bytes = 128;
  plan[0].variables[0].variable = &source;
  expect_error<DeviceError>([&] { device.launch(plan[0]); }, {"not a variable of the kernel's module"});
}

}  // namespace
}  // namespace convladder

#endif  // CONVLADDER_HAS_CUDA_FAMILY
