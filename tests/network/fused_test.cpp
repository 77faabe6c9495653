// Every fused variant: on guarded memory of the CPU, and from every compiler's PTX on the simulated device under all
// checkers. Held against the float64 chain, exact on small integers with ReLU; in a network beside separate operators.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "devices/cpu/cpu_device.hpp"
#include "devices/cpu/tile_unit.hpp"
#include "devices/kernel_resources.hpp"
#include "devices/ptx_images.hpp"
#include "network/chosen_network.hpp"
#include "network/layer_operators.hpp"
#include "network/network_runner.hpp"
#include "network/operator_test_data.hpp"
#include "simulator/device/simulated_device.hpp"
#include "support/seeded_random.hpp"
#include "variants/convolution/conv_test_data.hpp"
#include "variants/convolution/fused/fused_shape.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/fused/reference.hpp"

namespace convladder {
namespace {

const Network& known_network(std::string_view name) {
  return *std::ranges::find(built_in_networks(), name, &Network::name);
}

/// Those that do it in one.
std::vector<ProblemVariant> fusing_variants() {
  std::vector<ProblemVariant> all;
  std::ranges::copy_if(fused_problem().variants(), std::back_inserter(all), fuses);
  return all;
}

FusedShape layer_shape(std::string_view network, std::size_t layer, int batch) {
  return fused_shape(fused_layers(known_network(network), layer).value().size.with_batch(batch));
}

FusedShape pooled_convolution(const ConvShape& convolution, Activation activation, int size, int stride,
                              bool has_bias) {
  return {convolution, has_bias, activation, size, stride};
}

std::string trace_of(const FusedShape& shape) {
  return fmt::format("{} batch {}", size_name(shape), shape.convolution.batch);
}

struct FusedTestData {
  ConvTestData convolution;
  std::vector<float> bias;
};

/// Numbers as a network has them, or whole ones on which all sums are exact.
FusedTestData test_data(const FusedShape& shape, bool whole) {
  FusedTestData data{whole ? integer_data(shape.convolution, 3) : random_data(shape.convolution, 3), {}};
  SeededRandom random(4, 4);
  for (int map = 0; shape.has_bias && map < shape.convolution.out_channels; ++map) {
    data.bias.push_back(static_cast<float>(random.between(-8, 8)) / (whole ? 1.0F : 16.0F));
  }
  return data;
}

/// What the variant makes of the data; `poisoned`: the output holds a NaN before, which the host has written.
std::vector<float> fused_output(Device& device, const Variant& variant, const FusedShape& shape,
                                const FusedTestData& data, bool poisoned) {
  const std::vector<float>& pixels = data.convolution.input;
  const DeviceBuffer input = device.allocate(pixels.size() * sizeof(float), "input");
  device.copy_to_device(input.address(), pixels.data(), input.bytes());
  std::vector<float> result(shape.output_elements(), kOperatorPoison);
  const DeviceBuffer output = device.allocate(result.size() * sizeof(float), "output");
  if (poisoned) device.copy_to_device(output.address(), result.data(), output.bytes());
  const LayerWeights weights{data.convolution.weights, data.bias};
  const auto prepared = variant.prepare(device, shape, step_tensors(shape, weights, input.floats(), output.floats()));
  EXPECT_NE(prepared->choice(), "");
  for (int call = 0; call < 2; ++call) prepared->run();
  device.wait();
  device.copy_to_host(result.data(), output.address(), output.bytes());
  return result;
}

std::vector<ReferenceOutput> references(const FusedShape& shape, const FusedTestData& data) {
  std::vector<ReferenceOutput> all;
  for (int image = 0; image < shape.convolution.batch; ++image) {
    all.push_back(reference_fused(shape,
                                  data.convolution.input.data() + image * shape.convolution.input_elements_per_image(),
                                  data.convolution.weights.data(), data.bias.empty() ? nullptr : data.bias.data()));
  }
  return all;
}

void expect_as_reference(const FusedShape& shape, const std::vector<ReferenceOutput>& expected,
                         const std::vector<float>& output, double tolerance) {
  for (int image = 0; image < shape.convolution.batch; ++image) {
    const float* const of_image = output.data() + image * shape.output().elements();
    EXPECT_EQ(output_mismatch(expected[static_cast<std::size_t>(image)], of_image, tolerance), "") << "image " << image;
  }
}

/// With each of these numbers of threads; 0: as many as there are.
void expect_right_on_cpu(const FusedShape& shape, const FusedTestData& data, bool exact,
                         const std::vector<int>& threads = {0}) {
  const std::vector<ReferenceOutput> expected = references(shape, data);
  const int before = omp_get_max_threads();
  for (const int count : threads) {
    SCOPED_TRACE(fmt::format("{}, {} threads", trace_of(shape), count));
    if (count > 0) omp_set_num_threads(count);
    for (const ProblemVariant& registered : fusing_variants()) {
      if (registered.info.family != "cpu") continue;
      // What the stage that it builds on refuses, it refuses.
      const Variant& stage = *convolution_of(registered).variant;
      ASSERT_EQ(registered.variant->unsupported_reason(shape), stage.unsupported_reason(shape.convolution));
      if (!registered.variant->unsupported_reason(shape).empty()) continue;
      SCOPED_TRACE(registered.info.name);
      CpuDevice device;
      const std::vector<float> output = fused_output(device, *registered.variant, shape, data, true);
      expect_as_reference(shape, expected, output, exact ? 0 : registered.variant->tolerance());
      EXPECT_EQ(device.memory_violation(), "");
    }
  }
  omp_set_num_threads(before);
}

void expect_right_on_cpu(FusedShape shape, const std::vector<int>& threads = {0}) {
  expect_right_on_cpu(shape, test_data(shape, false), false, threads);
  shape.activation = Activation::relu;
  expect_right_on_cpu(shape, test_data(shape, true), true, threads);
}

/// Batches 1, 3 and 8; several bands and strips of rows; stride, padding, groups; windows that overlap, that leave
/// pixels between them and at the end, and the whole map as one window.
TEST(FusedVariants, AreRightOnTheCpu) {
  expect_right_on_cpu(layer_shape("lenet28", 0, 8));
  expect_right_on_cpu(layer_shape("lenet72", 0, 3));
  expect_right_on_cpu(layer_shape("lenet86", 3, 1));
  expect_right_on_cpu(layer_shape("lenet64", 0, 3));
  expect_right_on_cpu(pooled_convolution({3, 2, 55, 61, 19, 4}, Activation::relu, 2, 2, true));
  expect_right_on_cpu(pooled_convolution({1, 3, 70, 41, 5, 3, 1, 1}, Activation::tanh, 3, 3, true));
  expect_right_on_cpu(pooled_convolution({5, 9, 17, 19, 21, 3, 1, 1}, Activation::relu, 1, 1, true));
  expect_right_on_cpu(pooled_convolution({18, 8, 15, 14, 9, 5}, Activation::tanh, 2, 2, true));
  expect_right_on_cpu(pooled_convolution({3, 8, 15, 14, 9, 3, 1, 1}, Activation::relu, 3, 2, false));
  expect_right_on_cpu(pooled_convolution({1, 3, 31, 45, 7, 5, 3, 2}, Activation::tanh, 3, 2, true));
  expect_right_on_cpu(pooled_convolution({2, 8, 20, 23, 12, 3, 1, 1, 2}, Activation::relu, 2, 3, true));
  expect_right_on_cpu(pooled_convolution({1, 40, 70, 66, 9, 3}, Activation::tanh, 2, 2, false));
  expect_right_on_cpu(pooled_convolution({2, 1, 9, 11, 1, 3}, Activation::tanh, 7, 7, true));
  expect_right_on_cpu(pooled_convolution({1, 1, 3, 3, 1, 3}, Activation::relu, 1, 1, false));
}

/// Threads that share an image by its rows or by its maps, of windows that overlap and that begin with odd rows.
TEST(FusedVariants, AreRightOverAnyThreads) {
  const std::vector<int> threads{1, 3, 16};
  expect_right_on_cpu(pooled_convolution({1, 12, 24, 19, 24, 7}, Activation::tanh, 3, 2, true), threads);
  expect_right_on_cpu(pooled_convolution({2, 12, 24, 19, 24, 7}, Activation::relu, 3, 1, true), threads);
  expect_right_on_cpu(pooled_convolution({1, 36, 21, 9, 150, 3, 1, 1, 2}, Activation::tanh, 3, 3, true), threads);
  expect_right_on_cpu(pooled_convolution({4, 8, 11, 12, 70, 5, 1, 2}, Activation::relu, 1, 1, false), threads);
}

TEST(FusedVariants, AreExactInEveryInstructionSet) {
  const FusedShape few = pooled_convolution({1, 2, 21, 30, 11, 3, 1, 1}, Activation::relu, 2, 2, true);
  const FusedShape many = pooled_convolution({3, 9, 21, 30, 43, 3, 1, 1}, Activation::relu, 2, 2, true);
  for (const char* set : {"baseline", "avx2", "avx512"}) {
    SCOPED_TRACE(set);
    setenv("CONVLADDER_INSTRUCTION_SET", set, 1);
    try {
      for (const FusedShape& shape : {few, many}) expect_right_on_cpu(shape, test_data(shape, true), true);
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("does not support"), std::string::npos) << error.what();
    }
    unsetenv("CONVLADDER_INSTRUCTION_SET");
  }
}

FusedTestData data_with_a_nan(const FusedShape& shape) {
  FusedTestData data = test_data(shape, false);
  data.convolution.input[data.convolution.input.size() / 3] = std::nanf("");
  return data;
}

TEST(FusedVariants, HideNoNaN) {
  for (const Activation activation : {Activation::tanh, Activation::relu}) {
    for (const ConvShape& convolution : {ConvShape{1, 1, 16, 22, 5, 3}, {1, 9, 16, 22, 25, 3}}) {
      const FusedShape shape = pooled_convolution(convolution, activation, 2, 2, false);
      expect_right_on_cpu(shape, data_with_a_nan(shape), false);
    }
  }
}

TEST(FusedVariants, HaveTheLayersThatFollowEachOther) {
  EXPECT_EQ(size_name(layer_shape("lenet86", 3, 1)), "C4H40W40M16K7Q4R4");
  EXPECT_EQ(size_name(layer_shape("alexnet", 0, 1)), "C3H227W227M96K11S4B1Q3");
  EXPECT_EQ(layer_shape("lenet86", 3, 2).output(), (ActivationShape{16, 8, 8}));
  EXPECT_EQ(ProblemSize(layer_shape("lenet86", 3, 2)).minimum_bytes(),
            4.0 * (2 * 4 * 40 * 40 + 16 * 4 * 49 + 2 * 16 * 8 * 8));
  EXPECT_EQ(size_name(layer_shape("alexnet", 6, 1)), "C256H13W13M384K3P1B1Q1R1");
  EXPECT_FALSE(fused_layers(known_network("lenet72"), 3).has_value()) << "no activation follows its second convolution";
  EXPECT_FALSE(fused_layers(known_network("lenet72"), known_network("lenet72").layers.size() - 1).has_value());
}

TEST(FusedVariants, AFullyConnectedLayerIsAConvolutionOfAllOfItsInput) {
  const FusedLayers fused = fused_fully_connected(known_network("lenet72"), 4).value();
  EXPECT_EQ(size_name(fused.size), "C24H27W27M160K27T1Q1R1");
  EXPECT_EQ(fused.layers, 2U);
  EXPECT_EQ(fused.size.problem->output_image(fused.size), (ActivationShape{160, 1, 1}));
  EXPECT_FALSE(fused_fully_connected(known_network("lenet72"), 6).has_value()) << "softmax is no activation";
  EXPECT_FALSE(fused_fully_connected(known_network("lenet72"), 0).has_value());
}

class FusedOnTheSimulatedDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  }
};

void expect_right_when_simulated(const FusedShape& shape, const FusedTestData& data, bool exact) {
  SCOPED_TRACE(trace_of(shape));
  const std::vector<ReferenceOutput> expected = references(shape, data);
  for (const ProblemVariant& registered : fusing_variants()) {
    if (registered.info.family != "cuda") continue;
    ASSERT_EQ(registered.variant->unsupported_reason(shape), "");
    for (const PtxImages& images : ptx_images()) {
      SCOPED_TRACE(images.compiler);
      simulated::SimulatedDeviceOptions options;
      options.checkers = simulated::CheckerSet::all();
      options.with_caches = false;
      options.ptx_compiler = images.compiler;
      simulated::SimulatedDevice device(options);
      // Not poisoned: the host would have written it, and initcheck is to see that the kernel does.
      const std::vector<float> output = fused_output(device, *registered.variant, shape, data, false);
      for (const simulated::Finding& finding : device.take_findings()) ADD_FAILURE() << simulated::to_text(finding);
      EXPECT_TRUE(device.leaks().empty());
      expect_as_reference(shape, expected, output, exact ? 0 : registered.variant->tolerance());
    }
  }
}

void expect_right_when_simulated(FusedShape shape) {
  expect_right_when_simulated(shape, test_data(shape, false), false);
  shape.activation = Activation::relu;
  expect_right_when_simulated(shape, test_data(shape, true), true);
}

/// One layer for each kernel size and pooling, and tails: maps, rows and columns that fill no tile, padding, groups,
/// several steps of channels, pixels that no window covers.
TEST_F(FusedOnTheSimulatedDevice, AreRight) {
  expect_right_when_simulated(layer_shape("lenet28", 0, 3));
  expect_right_when_simulated(layer_shape("lenet86", 3, 1));
  expect_right_when_simulated(pooled_convolution({1, 1, 25, 40, 4, 7}, Activation::tanh, 2, 2, true));
  expect_right_when_simulated(pooled_convolution({2, 3, 15, 14, 7, 3, 1, 1}, Activation::tanh, 2, 2, true));
  expect_right_when_simulated(pooled_convolution({1, 6, 15, 21, 10, 7, 1, 2, 2}, Activation::tanh, 4, 4, false));
}

TEST_F(FusedOnTheSimulatedDevice, HideNoNaN) {
  for (const Activation activation : {Activation::tanh, Activation::relu}) {
    const FusedShape shape = pooled_convolution({1, 1, 12, 14, 4, 5}, activation, 2, 2, false);
    expect_right_when_simulated(shape, data_with_a_nan(shape), false);
  }
}

TEST_F(FusedOnTheSimulatedDevice, SayWhatTheyCannotDo) {
  const Variant& variant = *find_variant(fused_problem(), "cuda", "fused-register-tile")->variant;
  EXPECT_EQ(variant.unsupported_reason(layer_shape("alexnet", 0, 1)),
            "windows of pooling 3/2 overlap: they would need sums of other threads");
  EXPECT_EQ(variant.unsupported_reason(pooled_convolution({1, 1, 20, 20, 1, 5}, Activation::relu, 3, 3, false)),
            "pooling 3/3 is not among the compiled ones");
  EXPECT_EQ(variant.unsupported_reason(pooled_convolution({1, 1, 20, 20, 1, 5}, Activation::relu, 2, 3, false)),
            "windows of pooling 2/3 leave pixels between them");
  EXPECT_EQ(variant.unsupported_reason(pooled_convolution({1, 1, 20, 20, 1, 9}, Activation::relu, 2, 2, false)),
            "kernel 9 with stride 1 is not among the compiled ones (kernel/stride): 3/1, 5/1, 7/1");
}

/// The tile of a thread stays in its registers.
TEST_F(FusedOnTheSimulatedDevice, SpillNothing) {
  const Variant& variant = *find_variant(fused_problem(), "cuda", "fused-register-tile")->variant;
  for (const FusedShape& shape :
       {layer_shape("lenet28", 0, 1), layer_shape("lenet48", 0, 1), layer_shape("lenet72", 0, 1),
        layer_shape("lenet86", 0, 1), layer_shape("lenet86", 3, 1)}) {
    for (const KernelLaunch& launch : variant.launch_plan(shape)) {
      EXPECT_TRUE(kernel_display_name(launch.kernel).starts_with("convladder::fused_register_tile"));
#if CONVLADDER_HAS_CUDA
      ASSERT_FALSE(kernel_resources(launch.kernel).empty()) << trace_of(shape);
      for (const KernelResources& resources : kernel_resources(launch.kernel)) {
        EXPECT_EQ(resources.spill_store_bytes, 0) << resources.demangled << " on " << resources.architecture;
      }
#endif
    }
  }
}

/// Logits of a network with its convolutions fused, against those of separate operators.
void expect_the_same_scores(Device& device, const Network& network, const ProblemVariant& fused, int count) {
  SCOPED_TRACE(fmt::format("{} with {}", network.name, fused.info.name));
  const std::string_view family = fused.info.family;
  NetworkChoice choice{.family = std::string(family), .convolutions = {}, .operators = {}};
  for (const std::size_t index : convolution_layers(network)) {
    choice.convolutions[index] = convolution_of(fused);
  }
  NetworkWeights weights = initial_weights(network, 5);
  for (auto& [name, layer] : weights.layers) std::ranges::fill(layer.bias, 0.05F);
  std::vector<float> images(network.input.elements() * static_cast<std::size_t>(count));
  SeededRandom random(1, 1);
  for (float& pixel : images) pixel = static_cast<float>(random.between(0, 255));
  const auto scores = [&] {
    const ChosenNetwork chosen(network, weights, choice);
    EXPECT_EQ(chosen.unsupported_reason(count), "");
    return run_pass(device, chosen, images.data(), count, {.chunk = count}).scores;
  };
  const std::vector<float> separate = scores();
  std::size_t fused_layers = 0;
  for (const std::size_t index : convolution_layers(network)) {
    if (!fusion_error(network, index, *fused.variant).empty()) continue;
    choice.fused[index] = fused;
    ++fused_layers;
  }
  ASSERT_GT(fused_layers, 0U);
  EXPECT_EQ(network_steps(network, choice).front().fused_with.size(), 2U);
  const std::vector<float> together = scores();
  for (std::size_t i = 0; i < separate.size(); ++i) {
    ASSERT_TRUE(std::abs(together[i] - separate[i]) <= 2e-6F) << i << ": " << together[i] << ", " << separate[i];
  }
}

TEST(FusedVariants, ChangeNoScoresOfANetwork) {
  CpuDevice device;
  for (const ProblemVariant& fused : fusing_variants()) {
    if (fused.info.family != "cpu") continue;
    for (const char* name : {"lenet28", "lenet72", "lenet86"}) {
      const Variant& stage = *convolution_of(fused).variant;
      if (!stage.unsupported_reason(known_network(name).layers.front().size).empty()) continue;
      expect_the_same_scores(device, known_network(name), fused, 2);
    }
  }
}

TEST_F(FusedOnTheSimulatedDevice, ChangeNoScoresOfANetwork) {
  const Network network = parse_network(
      R"({"name": "small", "title": "t", "input": {"channels": 1, "height": 13, "width": 15}, "layers": [
      {"name": "conv1", "type": "convolution", "out_channels": 3, "kernel": 3, "bias": true},
      {"name": "tanh1", "type": "tanh"},
      {"name": "pool1", "type": "max_pool", "size": 2, "stride": 2},
      {"name": "conv2", "type": "convolution", "out_channels": 5, "kernel": 3, "padding": 1},
      {"name": "fc1", "type": "fully_connected", "out_features": 10, "bias": true},
      {"name": "softmax", "type": "softmax"}]})",
      "small.json");
  simulated::SimulatedDevice device(simulated::SimulatedDeviceOptions{});
  for (const ProblemVariant& fused : fusing_variants()) {
    if (fused.info.family == "cuda") expect_the_same_scores(device, network, fused, 2);
  }
}

// Of few maps adding and subtracting costs more than the products that are saved, fused or not.
TEST(FusedVariants, WinogradSuitsNoLayerOfFewMaps) {
  const ProblemVariant* const winograd = find_variant(fused_problem(), "cpu", "fused-winograd");
  ASSERT_NE(winograd, nullptr);
  const auto suits = [&](int maps) {
    return winograd->variant->suits(FusedShape{.convolution = {100, 12, 40, 40, maps, 7}});
  };
  EXPECT_FALSE(suits(4));
  EXPECT_FALSE(suits(16));
  EXPECT_TRUE(suits(24));
  EXPECT_TRUE(suits(63));
  EXPECT_EQ(suits(64), tile_unit() != TileUnit::processor) << "AMX is faster, where it is";
}

}  // namespace
}  // namespace convladder
