#include "network/network_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "devices/cpu/cpu_device.hpp"
#include "network/built_in_network.hpp"
#include "network/network_variant.hpp"
#include "network/reference_network.hpp"

namespace convladder {
namespace {

TEST(NetworkProblem, ItsConstantsAreTheWeightsOfItsLayersInOrder) {
  const Network& network = built_in("lenet28");
  const NetworkProblem problem(network);
  const ProblemSize size = problem.size(3);
  EXPECT_EQ(size_error(size), "");
  EXPECT_EQ(size_name(size), "all");
  EXPECT_EQ(parse_size(problem, "all"), problem.size(1));
  std::vector<std::string_view> names;
  for (const ProblemTensor& one : problem.constants(size)) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"conv1.weight", "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}));
  const NetworkWeights weights = initial_weights(network, 3);
  const std::vector<PlacedTensor> placed = problem.placed(weights);
  ASSERT_EQ(placed.size(), names.size());
  for (std::size_t layer = 0; layer < network.layers.size(); ++layer) {
    const LayerConstants found = problem.constants_of(layer, placed);
    if (!has_weights(network.layers[layer])) {
      EXPECT_TRUE(found.weights.empty() && found.bias.empty());
      continue;
    }
    const LayerWeights& own = weights.layers.at(network.layers[layer].name);
    EXPECT_TRUE(std::ranges::equal(found.weights, own.weights));
    EXPECT_TRUE(std::ranges::equal(found.bias, own.bias));
  }
}

TEST(NetworkProblem, IsFilledWithPixelsAndWeightsOfANewNetwork) {
  const NetworkProblem problem(built_in("lenet72"));
  const ProblemSize size = problem.size(1);
  SeededRandom random(5, 0);
  for (const std::vector<ProblemTensor>& tensors : {problem.inputs(size), problem.constants(size)}) {
    for (const ProblemTensor& tensor : tensors) {
      std::vector<float> values(static_cast<std::size_t>(tensor.elements), NAN);
      problem.fill(size, {tensor, values.data()}, random, false);
      const auto [least, most] = std::ranges::minmax(values);
      if (tensor.name == "images") {
        EXPECT_TRUE(least >= 0 && most <= 255 && most > 200 && std::floor(most) == most) << most;
      } else if (tensor.name.ends_with(".weight")) {
        EXPECT_TRUE(least < 0 && most > 0 && most < 1) << tensor.name;
      }
    }
  }
}

/// The largest |error| / magnitude of some scores.
double scaled_error(const ReferenceOutput& expected, const float* scores) {
  double largest = 0;
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    largest = std::max(largest, std::abs(scores[i] - expected.value[i]) / expected.magnitude[i]);
  }
  return largest;
}

TEST(NetworkProblem, TheReferenceIsTheNetworkInFloat64) {
  for (const char* const name : {"lenet28", "lenet86"}) {
    const Network& network = built_in(name);
    const NetworkProblem problem(network);
    const NetworkWeights weights = initial_weights(network, 4);
    std::vector<float> image(network.input.elements());
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i * 7 % 256);
    std::vector<float> scores(network.layers.back().output.elements());
    ReferenceNetwork(network, weights).activations(network.layers.size(), 1, image.data(), scores.data());
    ProblemTensors item;
    item.inputs = {{problem.inputs(problem.size(1)).front(), image.data()}};
    item.constants = problem.placed(weights);
    const ReferenceOutput expected = problem.reference(problem.size(1), item).front();
    ASSERT_EQ(expected.value.size(), scores.size());
    EXPECT_LT(scaled_error(expected, scores.data()), kFloat32Tolerance) << "rounded to float32 between the layers";
    EXPECT_GT(*std::ranges::max_element(expected.magnitude), 0);
    std::rotate(scores.begin(), scores.begin() + 1, scores.end());
    EXPECT_GT(scaled_error(expected, scores.data()), kFloat32Tolerance) << "scores of other classes are wrong";
  }
}

TEST(NetworkProblem, ItsLadderIsThatOfTheConvolutionAndWhatSuitsEachLayer) {
  const NetworkProblem problem(built_in("lenet72"));
  std::vector<std::string> ladder;
  for (const ProblemVariant& one : problem.variants()) {
    EXPECT_EQ(one.problem, &problem);
    EXPECT_TRUE(one.info.leaves_out.empty());
    if (one.info.family == "cpu" && one.info.rung) ladder.emplace_back(one.info.name);
  }
  ASSERT_GE(ladder.size(), 4U);
  EXPECT_EQ(ladder.front(), "memory-accumulation");
  EXPECT_EQ(ladder[ladder.size() - 2], "best-separate");
  EXPECT_EQ(ladder.back(), "best");
  for (const ProblemVariant& library : variants_of_kind(kWholeNetworks)) {
    const ProblemVariant* const found = find_variant(problem, library.info.family, library.info.name);
    ASSERT_NE(found, nullptr) << library.info.name;
    EXPECT_EQ(found->variant, library.variant);
  }
}

TEST(NetworkProblem, PreparedVariantsHaveThePartsThatTheyAreVerifiedBy) {
  const Network& network = built_in("lenet28");
  const NetworkProblem problem(network);
  const ProblemSize size = problem.size(2);
  const NetworkWeights weights = initial_weights(network, 4);
  const auto device = std::make_unique<CpuDevice>();
  std::vector<float> images(2 * network.input.elements(), 50);
  std::vector<float> scores(2 * network.layers.back().output.elements());
  ProblemTensors tensors;
  tensors.inputs = {{problem.inputs(size).front(), images.data()}};
  tensors.outputs = {{problem.outputs(size).front(), scores.data()}};
  tensors.constants = problem.placed(weights);
  for (const char* const name : {"compile-time", "best", "onednn-network"}) {
    const ProblemVariant* const variant = find_variant(problem, "cpu", name);
    if (variant == nullptr || !variant->variant->unsupported_reason(size).empty()) continue;
    SCOPED_TRACE(name);
    const std::unique_ptr<PreparedVariant> prepared = variant->variant->prepare(*device, size, tensors);
    std::vector<std::string> names;
    std::size_t constants = 0;
    for (const VariantPart& part : variant->variant->parts(size)) {
      names.push_back(part.name);
      constants += part.constants.size();
    }
    EXPECT_EQ(prepared->parts(), names);
    EXPECT_EQ(constants, problem.constants(size).size());
    prepared->run();
    const std::vector<float> whole = scores;
    std::ranges::fill(scores, NAN);
    for (std::size_t part = 0; part < names.size(); ++part) prepared->run_part(part);
    EXPECT_EQ(scores, whole);
  }
}

}  // namespace
}  // namespace convladder
