#include "network/network_runner.hpp"
#include "network/built_in_network.hpp"
#include "network/loaded_network.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "datasets/image_set.hpp"
#include "datasets/synthetic_images.hpp"
#include "devices/device_registry.hpp"
#include "expect_error.hpp"
#include "network/chosen_network.hpp"
#include "network/reference_network.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

std::unique_ptr<Device> open_device(std::string_view name) {
  for (const DeviceKind& kind : device_kinds()) {
    if (kind.name == name) return kind.open();
  }
  throw std::runtime_error("no such device");
}

/// The last stage of a family that runs everything.
NetworkChoice choice_of(const Network& network, const char* family, const char* variant) {
  NetworkChoice choice{.family = family, .convolutions = {}, .operators = {}};
  for (const std::size_t index : convolution_layers(network)) {
    choice.convolutions[index] = *find_variant(convolution_problem(), family, variant);
  }
  return choice;
}

std::vector<float> images_for(const Network& network, int count) {
  std::vector<float> images(network.input.elements() * count);
  fill_image_batch(synthetic_images(count, 1), 0, count, network.input.channels, network.input.height,
                   network.input.width, images.data());
  return images;
}

/// A network with every kind of layer, small enough for any device.
Network network_of_every_layer() {
  return parse_network(R"({"name": "small", "title": "t", "input": {"channels": 1, "height": 13, "width": 11},
      "layers": [
      {"name": "conv1", "type": "convolution", "out_channels": 3, "kernel": 3, "bias": true},
      {"name": "tanh1", "type": "tanh"},
      {"name": "pool1", "type": "max_pool", "size": 2, "stride": 2},
      {"name": "conv2", "type": "convolution", "out_channels": 5, "kernel": 3, "padding": 1, "stride": 2},
      {"name": "relu1", "type": "relu"},
      {"name": "fc1", "type": "fully_connected", "out_features": 17, "bias": true},
      {"name": "relu2", "type": "relu"},
      {"name": "fc2", "type": "fully_connected", "out_features": 10},
      {"name": "softmax", "type": "softmax"}]})",
                       "small.json");
}

NetworkWeights weights_with_biases(const Network& network) {
  NetworkWeights weights = initial_weights(network, 5);
  float value = 0.1F;
  for (auto& [name, layer] : weights.layers) {
    for (float& bias : layer.bias) bias = value = -value * 1.1F;
  }
  return weights;
}

void expect_scores_of_reference(const Network& network, const NetworkWeights& weights, const std::vector<float>& images,
                                int count, const std::vector<float>& scores) {
  std::vector<float> expected(scores.size());
  ReferenceNetwork(network, weights).activations(network.layers.size(), count, images.data(), expected.data());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const float error = std::abs(scores[i] - expected[i]);
    ASSERT_TRUE(error <= 1e-5F) << i << ": " << scores[i] << ", expected " << expected[i];
  }
}

/// In how many images at once the order of a sum may differ.
void expect_nearly_the_same(const std::vector<float>& scores, const std::vector<float>& others) {
  ASSERT_EQ(scores.size(), others.size());
  for (std::size_t i = 0; i < scores.size(); ++i) ASSERT_NEAR(scores[i], others[i], 1e-6F) << i;
}

TEST(NetworkSteps, AreTheLayersWithABiasOfItsOwn) {
  const Network network = network_of_every_layer();
  const std::vector<NetworkStep> steps = network_steps(network, choice_of(network, "cpu", "compile-time"));
  std::vector<std::string> names;
  for (const NetworkStep& step : steps) names.push_back(step.name);
  EXPECT_EQ(names, (std::vector<std::string>{"conv1", "conv1 bias", "tanh1", "pool1", "conv2", "relu1", "fc1", "relu2",
                                             "fc2", "softmax"}));
  EXPECT_EQ(steps[0].implementation, "compile-time");
  EXPECT_EQ(steps[0].type, "convolution");
  EXPECT_EQ(steps[6].type, "fully_connected");
  EXPECT_EQ(unsupported_reason(steps, 4), "");
  EXPECT_NE(without_own_kernels(steps, 4).find("conv1 (compile-time)"), std::string::npos);
}

TEST(NetworkSteps, ChunksAreEqualAndFitTheMemory) {
  const Network& network = built_in("lenet72");
  const std::size_t image = bytes_per_image(network);
  const std::size_t weights = weight_bytes(network);
  EXPECT_EQ(image, 5U * 12 * 66 * 66 * 4);
  EXPECT_EQ(chunk_images(network, 1000, std::size_t{1} << 40), 1000);
  const std::size_t room_for_400 = (400 * image + weights) * 5 / 4 + 1000;
  EXPECT_EQ(chunk_images(network, 1000, room_for_400), 334) << "three chunks";
  EXPECT_EQ(chunk_images(network, 400, room_for_400), 400);
  EXPECT_EQ(chunk_images(network, 1000, 0), 1);
}

TEST(NetworkSteps, ChunksForTheCachesAreOfWholeVectorsAndNotSmall) {
  const int before = omp_get_max_threads();
  const auto chunk = [](const char* name, int batch, int threads) {
    const Network& network = built_in(name);
    omp_set_num_threads(threads);
    return chunk_for_caches(network_steps(network, choice_of(network, "cpu", "shifted-rows")), batch);
  };
  EXPECT_EQ(chunk("lenet28", 1000, 8), 128) << "115200 bytes an image, twice";
  EXPECT_EQ(chunk("lenet28", 256, 8), 128);
  EXPECT_EQ(chunk("lenet28", 255, 8), 255) << "no two chunks";
  EXPECT_EQ(chunk("lenet28", 1, 8), 1);
  EXPECT_EQ(chunk("lenet28", 1000, 2), 1000) << "64 images would read the weights too often";
  EXPECT_EQ(chunk("lenet28", 10000, 64), 1152);
  omp_set_num_threads(before);
}

TEST(NetworkRunner, ComputesTheNetworkOnTheCpu) {
  for (const Network& network : {network_of_every_layer(), built_in("lenet28"), built_in("lenet86")}) {
    SCOPED_TRACE(network.name);
    const NetworkWeights weights = weights_with_biases(network);
    constexpr int kImages = 5;
    const std::vector<float> images = images_for(network, kImages);
    const auto device = open_device("cpu");
    const ChosenNetwork chosen(network, weights, choice_of(network, "cpu", "compile-time"));
    const PassResult whole = run_pass(*device, chosen, images.data(), kImages, {.chunk = kImages});
    ASSERT_EQ(whole.scores.size(), kImages * network.layers.back().output.elements());
    expect_scores_of_reference(network, weights, images, kImages, whole.scores);
    for (const int chunk : {1, 2, 9}) {
      SCOPED_TRACE("chunks of " + std::to_string(chunk));
      expect_nearly_the_same(run_pass(*device, chosen, images.data(), kImages, {.chunk = chunk}).scores, whole.scores);
    }
  }
}

TEST(NetworkRunner, ComputesTheNetworkOnTheSimulatedDevice) {
#if !CONVLADDER_HAS_CUDA_FAMILY
  GTEST_SKIP() << "no compiler for kernels in this build";
#else
  for (const Network& network : {network_of_every_layer(), built_in("lenet28")}) {
    SCOPED_TRACE(network.name);
    const NetworkWeights weights = weights_with_biases(network);
    constexpr int kImages = 3;
    const std::vector<float> images = images_for(network, kImages);
    const auto device = open_device("simulated");
    const std::vector<NetworkStep> steps = network_steps(network, choice_of(network, "cuda", "shared-memory"));
    const ChosenNetwork chosen(network, weights, choice_of(network, "cuda", "shared-memory"));
    ASSERT_EQ(without_own_kernels(steps, 2), "");
    const PassResult result = run_pass(*device, chosen, images.data(), kImages, {.chunk = 2});
    expect_scores_of_reference(network, weights, images, kImages, result.scores);
    ASSERT_EQ(result.counters.size(), steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      EXPECT_GE(result.counters[i].size(), 2U) << steps[i].name << ": a launch for each chunk";
    }
  }
#endif
}

TEST(NetworkRunner, OverlapsCopiesWhereTheDeviceCan) {
  const Network network = network_of_every_layer();
  const NetworkWeights weights = weights_with_biases(network);
  constexpr int kImages = 7;
  const std::vector<float> images = images_for(network, kImages);
  const auto cpu = open_device("cpu");
  EXPECT_FALSE(cpu->can_overlap());
#if CONVLADDER_HAS_CUDA_FAMILY
  const auto device = open_device("simulated");
  ASSERT_TRUE(device->can_overlap());
  const ChosenNetwork chosen(network, weights, choice_of(network, "cuda", "block-remap"));
  const PassResult plain = run_pass(*device, chosen, images.data(), kImages, {.chunk = 2});
  expect_scores_of_reference(network, weights, images, kImages, plain.scores);
  for (const int chunk : {1, 2, 3, 7}) {
    EXPECT_EQ(run_pass(*device, chosen, images.data(), kImages, {.chunk = chunk, .overlap = true}).scores, plain.scores)
        << "chunks of " << chunk;
  }
#endif
}

TEST(NetworkRunner, RecordsEveryPhaseAndEveryStep) {
  const Network network = network_of_every_layer();
  const NetworkWeights weights = weights_with_biases(network);
  const std::vector<float> images = images_for(network, 5);
  const auto device = open_device("cpu");
  const std::vector<NetworkStep> steps = network_steps(network, choice_of(network, "cpu", "local-accumulation"));
  const ChosenNetwork chosen(network, weights, choice_of(network, "cpu", "local-accumulation"));
  const PassResult result = run_pass(*device, chosen, images.data(), 5, {.chunk = 2});
  const auto calls = [&result](std::string_view group, std::string_view name) {
    return std::ranges::count_if(
        result.activities, [&](const Activity& activity) { return activity.group == group && activity.name == name; });
  };
  for (const NetworkStep& step : steps) EXPECT_EQ(calls(activity_group::kLayers, step.name), 3) << step.name;
  for (const auto phase :
       {pass_phase::kCopyImages, pass_phase::kLayers, pass_phase::kSynchronize, pass_phase::kCopyScores}) {
    EXPECT_EQ(calls(activity_group::kHost, phase), 3) << phase;
  }
  for (const auto phase : {pass_phase::kAllocate, pass_phase::kPrepare, pass_phase::kFree}) {
    EXPECT_EQ(calls(activity_group::kHost, phase), 1) << phase;
  }
  double phases = 0;
  for (const Activity& activity : result.activities) {
    EXPECT_GE(activity.duration_ns, 0) << activity.name;
    if (activity.group == activity_group::kHost) phases += activity.duration_ns;
  }
  EXPECT_LE(phases, result.total_ns) << "phases follow one another";
  const PassResult untimed = run_pass(*device, chosen, images.data(), 5, {.chunk = 2, .time_steps = false});
  EXPECT_EQ(untimed.scores, result.scores);
  EXPECT_EQ(activity_ns(untimed.activities, activity_group::kLayers, "conv1"), 0);
}

/// Writes down what it sees, and that outputs appear between `before` and `after`.
class WritingObserver final : public PartObserver {
 public:
  WritingObserver(Device& device, std::vector<NetworkStep> steps) : device_(device), steps_(std::move(steps)) {}
  void before(std::size_t part, int images, PreparedVariant& network) override {
    const NetworkStep& step = steps_[part];
    if (step.in_place()) return;
    const std::vector<float> poison(step.output.elements() * images, NAN);
    if (float* const output = network.part_output(part)) {
      device_.copy_to_device(output, poison.data(), poison.size() * sizeof(float));
    } else {
      network.write_part(part, poison.data());
    }
  }
  void after(std::size_t part, int images, PreparedVariant& network) override {
    const NetworkStep& step = steps_[part];
    EXPECT_EQ(network.parts()[part], step.name);
    std::vector<float> values(step.output.elements() * images);
    if (const float* const output = network.part_output(part)) {
      device_.copy_to_host(values.data(), output, values.size() * sizeof(float));
    } else {
      network.read_part(part, values.data());
    }
    EXPECT_TRUE(std::ranges::none_of(values, [](float value) { return std::isnan(value); })) << step.name;
    seen.push_back(step.name + " x" + std::to_string(images));
  }
  std::vector<std::string> seen;

 private:
  Device& device_;
  std::vector<NetworkStep> steps_;
};

TEST(NetworkRunner, ShowsEveryStepToAnObserver) {
  const Network network = network_of_every_layer();
  const NetworkWeights weights = weights_with_biases(network);
  const std::vector<float> images = images_for(network, 3);
  const auto device = open_device("cpu");
  const std::vector<NetworkStep> steps = network_steps(network, choice_of(network, "cpu", "compile-time"));
  const ChosenNetwork chosen(network, weights, choice_of(network, "cpu", "compile-time"));
  WritingObserver observer(*device, steps);
  run_pass(*device, chosen, images.data(), 3, {.chunk = 2, .observer = &observer});
  ASSERT_EQ(observer.seen.size(), 2 * steps.size());
  EXPECT_EQ(observer.seen.front(), "conv1 x2");
  EXPECT_EQ(observer.seen[steps.size()], "conv1 x1");
  EXPECT_EQ(observer.seen.back(), "softmax x1");
}

TEST(LoadedNetwork, TakesBatchAfterBatchFromARing) {
  constexpr int kOf = 7;
  constexpr int kBatch = 5;
  const Network network = network_of_every_layer();
  const NetworkWeights weights = weights_with_biases(network);
  const std::vector<float> images = images_for(network, kOf);
  const auto device = open_device("cpu");
  const ChosenNetwork chosen(network, weights, choice_of(network, "cpu", "compile-time"));
  const std::size_t classes = network.layers.back().output.elements();
  const std::vector<float> all = run_pass(*device, chosen, images.data(), kOf, {.chunk = kOf}).scores;
  for (const int chunk : {kBatch, 2, 100}) {
    LoadedNetwork loaded(*device, chosen, kBatch, chunk);
    for (const int first : {0, 4, 6, 2}) {
      std::vector<float> scores(kBatch * classes, NAN);
      loaded.run({images.data(), kOf, first}, scores.data());
      SCOPED_TRACE("from " + std::to_string(first));
      std::vector<float> expected = all;
      std::rotate(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(first * classes), expected.end());
      expected.resize(kBatch * classes);
      expect_nearly_the_same(scores, expected);
    }
  }
}

/// Every library that does whole networks, on this network in chunks of two.
void expect_libraries_do(const Network& network) {
  SCOPED_TRACE(network.name);
  const NetworkWeights weights = weights_with_biases(network);
  const std::vector<float> images = images_for(network, 3);
  for (const ProblemVariant& whole : variants_of_kind(kWholeNetworks)) {
    if (whole.info.family != "cpu") continue;
    const auto device = open_device("cpu");
    const NetworkChoice choice{.family = "cpu", .convolutions = {}, .operators = {}, .whole = whole};
    const std::vector<NetworkStep> steps = network_steps(network, choice);
    const ChosenNetwork chosen(network, weights, choice);
    const std::string reason = chosen.unsupported_reason(3);
    if (reason.find("CONVLADDER_ONNXRUNTIME") != std::string::npos) continue;  // is looked for when the program runs
    EXPECT_EQ(reason, "");
    WritingObserver observer(*device, steps);
    expect_scores_of_reference(network, weights, images, 3,
                               run_pass(*device, chosen, images.data(), 3, {.chunk = 2, .observer = &observer}).scores);
    EXPECT_EQ(observer.seen.size(), 2 * steps.size());
    LoadedNetwork loaded(*device, chosen, 3, 3);
    std::vector<float> scores(3 * network.layers.back().output.elements());
    loaded.run({images.data(), 3, 0}, scores.data());
    expect_scores_of_reference(network, weights, images, 3, scores);
  }
}

TEST(WholeNetworks, GiveTheScoresOfTheReferenceAndShowEveryStep) {
  if (variants_of_kind(kWholeNetworks).empty()) GTEST_SKIP() << "this build has no library that does whole networks";
  expect_libraries_do(network_of_every_layer());
  expect_libraries_do(built_in("lenet28"));
  expect_libraries_do(built_in("lenet86"));
}

TEST(WholeNetworks, DoInAStepWhatTheReferenceCanCheckOfIt) {
  if (variants_of_kind(kWholeNetworks).empty()) GTEST_SKIP() << "this build has no library that does whole networks";
  const ProblemVariant whole = variants_of_kind(kWholeNetworks).front();
  std::vector<std::string> names;
  for (const NetworkStep& step :
       network_steps(built_in("lenet72"), {.family = "cpu", .convolutions = {}, .operators = {}, .whole = whole})) {
    names.push_back(step.name);
    for (const std::string& with : step.fused_with) names.back() += "+" + with;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"conv1+activation1+pool1", "conv2", "fc1+activation2", "fc2", "softmax"}));
}

}  // namespace
}  // namespace convladder
