// Every CUDA variant, executed on the simulated device from the PTX of each compiler of this build: bit-exact on small
// integers, within its own tolerance of the float64 reference on real numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "devices/device_error.hpp"
#include "devices/ptx_images.hpp"
#include "expect_error.hpp"
#include "sanitized.hpp"
#include "simulator/device/simulated_device.hpp"
#include "support/seeded_random.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {
namespace {

/// The layers of lenet28, lenet72 and AlexNet, and shapes with strides, padding, groups and tail tiles; a few
/// small ones with sanitizers, which make this many times slower.
std::vector<ConvShape> simulated_shapes() {
  std::vector<ConvShape> all;
  if (kSanitized) return {{3, 1, 28, 28, 14, 5}, {2, 8, 20, 23, 12, 3, 2, 1, 2}, {1, 3, 31, 29, 7, 3, 3, 2}};
  for (const int batch : {1, 3, 8}) {
    all.push_back({batch, 1, 28, 28, 50, 5});
    all.push_back({batch, 8, 20, 23, 12, 3, 2, 1, 2});
    all.push_back({batch, 2, 17, 19, 5, 1, 2});
    all.push_back({batch, 3, 31, 29, 7, 3, 3, 2});
  }
  all.push_back({3, 1, 72, 72, 12, 7});
  all.push_back({3, 12, 33, 33, 16, 7});
  all.push_back({1, 3, 227, 227, 16, 11, 4});  // AlexNet's layers with fewer maps: the tiles are much the same
  all.push_back({1, 96, 27, 27, 16, 5, 1, 2});
  all.push_back({1, 384, 13, 13, 16, 3, 1, 1});
  return all;
}

/// AlexNet's five convolutions in full. They take minutes: run with CONVLADDER_SLOW_TESTS=1.
std::vector<ConvShape> alexnet_shapes() {
  std::vector<ConvShape> all;
  for (const int batch : {1, 3, 8}) {
    all.push_back({batch, 3, 227, 227, 96, 11, 4});
    all.push_back({batch, 96, 27, 27, 256, 5, 1, 2});
    all.push_back({batch, 256, 13, 13, 384, 3, 1, 1});
    all.push_back({batch, 384, 13, 13, 384, 3, 1, 1});
    all.push_back({batch, 384, 13, 13, 256, 3, 1, 1});
  }
  return all;
}

struct Tensors {
  std::vector<float> input;
  std::vector<float> weights;
};

Tensors tensors(const ConvShape& shape, bool integers) {
  SeededRandom random(7, 0);
  const auto value = [&] {
    const int number = random.between(-800, 800);
    return integers ? static_cast<float>(number / 100) : static_cast<float>(number) / 100.0F;
  };
  Tensors result{std::vector<float>(static_cast<std::size_t>(shape.input_elements())),
                 std::vector<float>(static_cast<std::size_t>(shape.weight_elements()))};
  for (float& x : result.input) x = value();
  for (float& w : result.weights) w = value();
  return result;
}

class CudaOnTheSimulatedDevice : public testing::TestWithParam<ConvShape> {
 protected:
  void SetUp() override {
    if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  }
};

std::vector<float> convolve(const ProblemVariant& registered, const std::string& compiler, const ConvShape& shape,
                            const Tensors& from) {
  simulated::SimulatedDeviceOptions options;
  options.ptx_compiler = compiler;
  options.with_caches = false;  // results do not depend on them
  simulated::SimulatedDevice device(options);
  std::vector<float> output(static_cast<std::size_t>(shape.output_elements()), std::nanf(""));
  const DeviceBuffer x = device.allocate(from.input.size() * sizeof(float), "input");
  const DeviceBuffer y = device.allocate(output.size() * sizeof(float), "output");
  device.copy_to_device(x.address(), from.input.data(), x.bytes());
  device.copy_to_device(y.address(), output.data(), y.bytes());
  registered.variant->prepare(device, shape, conv_tensors(shape, x.floats(), from.weights.data(), y.floats()))->run();
  device.copy_to_host(output.data(), y.address(), y.bytes());
  return output;
}

/// The reference of every image of a batch, one behind the other.
ReferenceOutput batch_reference(const ConvShape& shape, const Tensors& from) {
  ReferenceOutput all;
  for (int image = 0; image < shape.batch; ++image) {
    const float* const input = from.input.data() + image * shape.input_elements_per_image();
    const ReferenceOutput one = reference_convolution(shape, input, from.weights.data());
    all.value.insert(all.value.end(), one.value.begin(), one.value.end());
    all.magnitude.insert(all.magnitude.end(), one.magnitude.begin(), one.magnitude.end());
  }
  return all;
}

/// Holds every variant from every compiler's PTX against the reference; bit for bit, where the numbers are integers.
void expect_convolutions(const ConvShape& shape, bool are_integers) {
  const Tensors numbers = tensors(shape, are_integers);
  const ReferenceOutput reference = batch_reference(shape, numbers);
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    if (registered.info.family != "cuda" || registered.variant->launch_plan(shape).empty()) continue;
    if (!registered.info.leaves_out.empty() && shape.batch > 1) continue;  // leave_one_out_test.cpp has small ones
    for (const PtxImages& images : ptx_images()) {
      SCOPED_TRACE(std::string(registered.info.name) + " on " + shape_name(shape) + " by " + images.compiler);
      const std::vector<float> output = convolve(registered, images.compiler, shape, numbers);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < output.size(); ++i) {
        const double allowed = are_integers ? 0 : registered.variant->tolerance() * reference.magnitude[i];
        if (!(std::abs(output[i] - reference.value[i]) <= allowed)) ++wrong;
      }
      EXPECT_EQ(wrong, 0U) << "of " << output.size();
    }
  }
}

TEST_P(CudaOnTheSimulatedDevice, ComputesTheConvolutionAsEachCompilerMadeIt) {
  expect_convolutions(GetParam(), true);
  // Every sum is rounded as in smaller batches; that the right numbers go into it, integers have shown.
  if (GetParam().batch < 8) expect_convolutions(GetParam(), false);
}

class AlexNetOnTheSimulatedDevice : public CudaOnTheSimulatedDevice {
 protected:
  void SetUp() override {
    CudaOnTheSimulatedDevice::SetUp();
    if (std::getenv("CONVLADDER_SLOW_TESTS") == nullptr)
      GTEST_SKIP() << "takes minutes; CONVLADDER_SLOW_TESTS=1 runs it";
  }
};

TEST_P(AlexNetOnTheSimulatedDevice, ComputesTheConvolutionAsEachCompilerMadeIt) {
  expect_convolutions(GetParam(), true);
  if (GetParam().batch == 1) expect_convolutions(GetParam(), false);
}

/// Outputs and counters, those of the caches included.
struct Observed {
  std::vector<float> output;
  std::vector<KernelCounters> counters;
  bool operator==(const Observed&) const = default;
};

TEST(CudaVariants, AreTheSameBitsAndCountsForEveryNumberOfHostThreads) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  const ConvShape shape = kSanitized ? ConvShape{2, 1, 18, 16, 6, 5} : ConvShape{3, 2, 30, 26, 6, 5};
  // Another order of blocks shows by chance, and mostly soon: every night it has more of them.
  const int runs = kSanitized ? 1 : std::getenv("CONVLADDER_ALL_TESTS") != nullptr ? 10 : 2;
  const Tensors numbers = tensors(shape, false);
  const auto observe = [&](const ProblemVariant& registered, int host_threads) {
    simulated::SimulatedDeviceOptions options;
    options.host_threads = host_threads;
    simulated::SimulatedDevice device(options);
    Observed observed{std::vector<float>(static_cast<std::size_t>(shape.output_elements())), {}};
    const DeviceBuffer x = device.allocate(numbers.input.size() * sizeof(float), "input");
    const DeviceBuffer y = device.allocate(observed.output.size() * sizeof(float), "output");
    device.copy_to_device(x.address(), numbers.input.data(), x.bytes());
    registered.variant->prepare(device, shape, conv_tensors(shape, x.floats(), numbers.weights.data(), y.floats()))
        ->run();
    device.copy_to_host(observed.output.data(), y.address(), y.bytes());
    observed.counters = device.take_counters();
    return observed;
  };
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    if (registered.info.family != "cuda" || registered.variant->launch_plan(shape).empty()) continue;
    if (kSanitized && registered.info.rung.value_or(1) % 4 != 0) continue;
    SCOPED_TRACE(registered.info.name);
    const Observed first = observe(registered, 1);
    EXPECT_FALSE(first.counters.at(0).values.empty());
    EXPECT_FALSE(first.counters.at(0).modelled.empty());
    for (const int host_threads : {1, 2, 7}) {
      for (int run = 0; run < runs; ++run) EXPECT_EQ(observe(registered, host_threads), first);
    }
  }
}

TEST(CudaVariants, CountByInstructionAsMuchAsByKernel) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  const ConvShape shape{2, 1, 18, 16, 6, 5};
  const Tensors numbers = tensors(shape, false);
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    if (registered.info.family != "cuda" || registered.variant->launch_plan(shape).empty()) continue;
    if (kSanitized && registered.info.rung.value_or(1) % 4 != 0) continue;
    SCOPED_TRACE(registered.info.name);
    simulated::SimulatedDeviceOptions options;
    options.keeps_instructions = true;
    options.with_caches = false;
    simulated::SimulatedDevice device(options);
    const DeviceBuffer x = device.allocate(numbers.input.size() * sizeof(float), "input");
    const DeviceBuffer y = device.allocate(static_cast<std::size_t>(shape.output_elements()) * sizeof(float), "output");
    device.copy_to_device(x.address(), numbers.input.data(), x.bytes());
    registered.variant->prepare(device, shape, conv_tensors(shape, x.floats(), numbers.weights.data(), y.floats()))
        ->run();
    std::map<std::string, double> by_kernel;
    for (const KernelCounters& launch : device.take_counters()) {
      for (const auto& [name, value] : launch.values) {
        if (name.ends_with(".sum") && value != 0) by_kernel[name] += value;
      }
    }
    std::map<std::string, double> by_instruction;
    for (const auto& [kernel, figures] : device.take_instructions()) {
      EXPECT_FALSE(figures.files.empty()) << kernel;
      for (const simulated::InstructionFigures& one : figures.instructions) {
        for (const auto& [name, value] : one.counters) by_instruction[name] += value;
      }
    }
    EXPECT_FALSE(by_kernel.empty());
    EXPECT_EQ(by_kernel, by_instruction);
  }
}

TEST(CudaVariants, AreTheSameBitsWithNothingCounted) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  for (const ConvShape& shape : {ConvShape{2, 1, 18, 16, 6, 5}, ConvShape{3, 2, 30, 26, 6, 5}}) {
    if (kSanitized && shape.batch > 2) continue;
    const Tensors numbers = tensors(shape, false);
    const auto output_of = [&](const ProblemVariant& registered, bool is_counted) {
      simulated::SimulatedDevice device;
      std::vector<float> output(static_cast<std::size_t>(shape.output_elements()));
      const DeviceBuffer x = device.allocate(numbers.input.size() * sizeof(float), "input");
      const DeviceBuffer y = device.allocate(output.size() * sizeof(float), "output");
      device.copy_to_device(x.address(), numbers.input.data(), x.bytes());
      device.set_counting(is_counted);
      registered.variant->prepare(device, shape, conv_tensors(shape, x.floats(), numbers.weights.data(), y.floats()))
          ->run();
      device.copy_to_host(output.data(), y.address(), y.bytes());
      EXPECT_EQ(device.take_counters().empty(), !is_counted);
      return output;
    };
    for (const ProblemVariant& registered : convolution_problem().variants()) {
      if (registered.info.family != "cuda" || registered.variant->launch_plan(shape).empty()) continue;
      SCOPED_TRACE(registered.info.name);
      const std::vector<float> counted = output_of(registered, true);
      EXPECT_EQ(std::memcmp(counted.data(), output_of(registered, false).data(), counted.size() * sizeof(float)), 0);
    }
  }
}

/// Large batches are counted with their own launch, of which the blocks of the first images run.
TEST(CudaVariants, AWindowOfALargeBatchRunsItsImagesAndNoOthers) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  const ConvShape shape{1024, 2, 13, 14, 6, 5};  // so many that blocks may take four images each
  constexpr int kFirst = 4;
  constexpr int kCount = 8;
  const Tensors numbers = tensors(shape.with_batch(kFirst + kCount), true);
  const ReferenceOutput reference = batch_reference(shape.with_batch(kFirst + kCount), numbers);
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    if (registered.info.family != "cuda" || registered.variant->launch_plan(shape).empty()) continue;
    if (kSanitized && registered.info.rung.value_or(1) % 4 != 0) continue;
    SCOPED_TRACE(registered.info.name);
    simulated::SimulatedDevice device;
    std::vector<float> output(static_cast<std::size_t>(shape.output_elements()), std::nanf(""));
    const DeviceBuffer x = device.allocate(static_cast<std::size_t>(shape.input_elements()) * sizeof(float), "input");
    const DeviceBuffer y = device.allocate(output.size() * sizeof(float), "output");
    device.copy_to_device(x.address(), numbers.input.data(), numbers.input.size() * sizeof(float));
    device.copy_to_device(y.address(), output.data(), y.bytes());
    device.set_grid_window(GridWindow{kFirst, kCount, 1024});
    registered.variant->prepare(device, shape, conv_tensors(shape, x.floats(), numbers.weights.data(), y.floats()))
        ->run();
    device.copy_to_host(output.data(), y.address(), y.bytes());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < output.size(); ++i) {
      const auto image = static_cast<std::int64_t>(i) / shape.output_elements_per_image();
      const bool in_window = image >= kFirst && image < kFirst + kCount;
      if (in_window ? !(output[i] == reference.value[i]) : !std::isnan(output[i])) ++wrong;
    }
    EXPECT_EQ(wrong, 0U) << "of " << output.size();
  }
}

TEST(PtxOfThisBuild, IsOfEachCompilerForTheSameKernels) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  for (const PtxImages& images : ptx_images()) {
    EXPECT_FALSE(images.version.empty());
    EXPECT_EQ(images.files.size(), ptx_images().front().files.size());
  }
  simulated::SimulatedDeviceOptions options;
  options.ptx_compiler = "icc";
  expect_error<DeviceError>([&options] { simulated::SimulatedDevice device(options); }, {"no PTX of icc"});
}

std::string name_of(const testing::TestParamInfo<ConvShape>& info) {
  return shape_name(info.param) + "B" + std::to_string(info.param.batch);
}

INSTANTIATE_TEST_SUITE_P(AlexNet, AlexNetOnTheSimulatedDevice, testing::ValuesIn(alexnet_shapes()), name_of);
INSTANTIATE_TEST_SUITE_P(Shapes, CudaOnTheSimulatedDevice, testing::ValuesIn(simulated_shapes()), name_of);

}  // namespace
}  // namespace convladder
