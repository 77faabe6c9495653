#include "network/weights.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "expect_error.hpp"
#include "network/safetensors.hpp"
#include "support/errors.hpp"
#include "support/sha256.hpp"

namespace convladder {
namespace {

/// A convolution with groups, one with bias, fully connected layers with and without.
const Network& network_with_groups() {
  static const Network network = parse_network(
      R"({"name": "small", "title": "t", "input": {"channels": 1, "height": 6, "width": 5}, "layers": [
           {"name": "conv1", "type": "convolution", "out_channels": 4, "kernel": 3},
           {"name": "conv2", "type": "convolution", "out_channels": 6, "kernel": 2, "groups": 2, "bias": true},
           {"name": "relu", "type": "relu"},
           {"name": "fc1", "type": "fully_connected", "out_features": 7},
           {"name": "fc2", "type": "fully_connected", "out_features": 10, "bias": true},
           {"name": "softmax", "type": "softmax"}]})",
      "small.json");
  return network;
}

std::vector<Tensor> tensors_of(const NetworkWeights& weights) {
  const std::string content = weights_file_content(network_with_groups(), weights, {});
  return parse_safetensors({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()}, "f").tensors;
}

NetworkWeights parse(const std::string& content, const std::string& file = "folder/own.safetensors") {
  return parse_weights(network_with_groups(), {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()},
                       file);
}

/// The file of the network's initial weights, after `change` was made to its tensors.
template <typename Change>
std::string changed_file(Change change) {
  std::vector<Tensor> tensors = tensors_of(initial_weights(network_with_groups(), 3));
  change(tensors);
  return safetensors_content(tensors, {});
}

Tensor& named(std::vector<Tensor>& tensors, std::string_view name) {
  return *std::ranges::find(tensors, name, &Tensor::name);
}

void expect_weights_refused(const std::string& content, std::initializer_list<std::string_view> parts) {
  expect_error<UserError>([&] { parse(content, "own.safetensors"); }, {"own.safetensors: "});
  expect_error<UserError>([&] { parse(content, "own.safetensors"); }, parts);
}

TEST(InitialWeights, OfConvolutionsAreThoseOfALadder) {
  for (const Network& network : built_in_networks()) {
    if (network.name == "alexnet") continue;  // the same code, and 61 million weights
    SCOPED_TRACE(network.name);
    const NetworkWeights weights = initial_weights(network, 7);
    for (const std::size_t index : convolution_layers(network)) {
      EXPECT_EQ(weights.layers.at(network.layers[index].name).weights, initial_convolution_weights(network, index, 7));
    }
  }
}

TEST(InitialWeights, HaveTheShapesAndTheLimitsOfTheirLayers) {
  const NetworkWeights weights = initial_weights(network_with_groups(), 5);
  EXPECT_EQ(weights.name, "random, seed 5");
  EXPECT_EQ(weights.sha256, "");
  ASSERT_EQ(weights.layers.size(), 4U);
  const auto check = [&](const char* layer, std::size_t elements, std::size_t bias, double limit) {
    SCOPED_TRACE(layer);
    const LayerWeights& of_layer = weights.layers.at(layer);
    ASSERT_EQ(of_layer.weights.size(), elements);
    EXPECT_EQ(of_layer.bias, std::vector<float>(bias, 0.0F));
    const float largest = std::ranges::max(of_layer.weights, {}, [](float w) { return std::abs(w); });
    EXPECT_LE(std::abs(largest), limit * (1 + 1e-6));
    EXPECT_GT(std::abs(largest), 0.7 * limit);
  };
  check("conv1", 4 * 9, 0, std::sqrt(6.0 / (9 * (1 + 4))) / 255);
  check("conv2", 6 * 2 * 4, 6, std::sqrt(6.0 / (4 * (2 + 3))));
  check("fc1", 7 * 36, 0, std::sqrt(6.0 / (36 + 7)));
  check("fc2", 10 * 7, 10, std::sqrt(6.0 / (7 + 10)));
}

TEST(InitialWeights, DependOnTheSeed) {
  EXPECT_EQ(initial_weights(network_with_groups(), 1).layers, initial_weights(network_with_groups(), 1).layers);
  EXPECT_NE(initial_weights(network_with_groups(), 1).layers.at("fc1"),
            initial_weights(network_with_groups(), 2).layers.at("fc1"));
}

TEST(InitialWeights, TheFirstLayerTakesThePixelScaleWhateverItIs) {
  const Network network = parse_network(
      R"({"name": "n", "title": "t", "input": {"channels": 1, "height": 4, "width": 4}, "layers": [
           {"name": "fc1", "type": "fully_connected", "out_features": 10}]})",
      "n.json");
  const std::vector<float> weights = initial_weights(network, 1).layers.at("fc1").weights;
  EXPECT_LE(std::ranges::max(weights), std::sqrt(6.0 / 26) / 255 * (1 + 1e-6));
}

TEST(WeightsFile, ReadsWhatItWrote) {
  NetworkWeights weights = initial_weights(network_with_groups(), 2);
  weights.layers.at("fc2").bias[3] = 0.25F;
  const std::string content = weights_file_content(network_with_groups(), weights, {{"epochs", "2"}});
  EXPECT_EQ(content, weights_file_content(network_with_groups(), weights, {{"epochs", "2"}}));
  const NetworkWeights read = parse(content);
  EXPECT_EQ(read.layers, weights.layers);
  EXPECT_EQ(read.name, "own.safetensors");
  EXPECT_EQ(read.sha256, sha256_hex({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()}));
}

TEST(WeightsFile, MayHoldAValueForEachCellOfAGrid) {
  const Network& network = network_with_groups();
  NetworkWeights weights = initial_weights(network, 2);
  const std::string content = weights_file_content(network, weights, {{"epochs", "2"}}, 2);
  const auto tensors =
      parse_safetensors({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()}, "f").tensors;
  const Tensor& cells = *std::ranges::find(tensors, "fc1.weight", &Tensor::name);
  EXPECT_EQ(cells.shape, (std::vector<std::int64_t>{7, 6, 2, 2}));  // of maps of 3 x 2: the upper cells are 2 x 1
  const NetworkWeights read = parse(content);
  const std::vector<float>& before = weights.layers.at("fc1").weights;
  const std::vector<float>& after = read.layers.at("fc1").weights;
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t map = 0; map < 7 * 6; ++map) {
    const float* const was = before.data() + map * 6;
    const float* const is = after.data() + map * 6;
    for (int column = 0; column < 2; ++column) {
      EXPECT_NEAR(is[column], (was[column] + was[column + 2]) / 2, 1e-3);
      EXPECT_EQ(is[column], is[column + 2]);
      EXPECT_NEAR(is[column + 4], was[column + 4], 1e-3);  // rounded to half precision
      EXPECT_EQ(is[column], cells.values[map * 4 + column]);
    }
  }
  weights.layers.at("fc1").weights = after;
  EXPECT_EQ(read.layers, weights.layers);  // all others as they were
  EXPECT_EQ(parse(weights_file_content(network, read, {}, 2)).layers, read.layers);
  expect_weights_refused(changed_file([](auto& all) {
                           named(all, "fc1.weight") = {"fc1.weight", {7, 6, 4, 1}, std::vector<float>(7 * 6 * 4)};
                         }),
                         {"expected shape [7, 36], or [7, 6, up to 3, up to 2] for a grid, found [7, 6, 4, 1]"});
}

TEST(WeightsFile, ItsValuesAreThoseThatWereWritten) {
  std::string content =
      weights_file_content(network_with_groups(), initial_weights(network_with_groups(), 2), {{"network", "small"}});
  parse(content);
  content.back() ^= 1;
  expect_weights_refused(content, {"its values are not those that were written into it"});
}

TEST(WeightsFile, UsesPyTorchsNamesAndShapes) {
  std::vector<Tensor> tensors = tensors_of(initial_weights(network_with_groups(), 2));
  std::vector<std::string> names;
  for (const Tensor& tensor : tensors) names.push_back(fmt::format("{} {}", tensor.name, shape_text(tensor.shape)));
  EXPECT_EQ(names, (std::vector<std::string>{"conv1.weight [4, 1, 3, 3]", "conv2.bias [6]", "conv2.weight [6, 2, 2, 2]",
                                             "fc1.weight [7, 36]", "fc2.bias [10]", "fc2.weight [10, 7]"}));
}

TEST(WeightsFile, IsCalledByWhatItSaysOfItself) {
  const NetworkWeights weights = initial_weights(network_with_groups(), 2);
  const auto name_with = [&](const std::map<std::string, std::string>& metadata) {
    return parse(weights_file_content(network_with_groups(), weights, metadata)).name;
  };
  EXPECT_EQ(name_with({{"network", "small"}, {"dataset", "mnist"}, {"quality", "low"}}), "small mnist low");
  EXPECT_EQ(name_with({{"network", "small"}, {"dataset", "mnist"}}), "own.safetensors");
  EXPECT_EQ(name_with({{"network", "a\nb"}, {"dataset", "mnist"}, {"quality", "low"}}), "own.safetensors");
}

TEST(WeightsFile, NamesTheTensorThatIsMissing) {
  expect_weights_refused(
      changed_file([](auto& tensors) { std::erase_if(tensors, [](auto& t) { return t.name == "fc1.weight"; }); }),
      {R"(tensor "fc1.weight": expected shape [7, 36], but it is missing)", R"("fc2.weight")"});
  expect_weights_refused(changed_file([](auto& tensors) { named(tensors, "conv2.bias").name = "conv2.b"; }),
                         {R"(tensor "conv2.bias": expected shape [6], but it is missing)", R"("conv2.b")"});
  expect_weights_refused(safetensors_content({}, {}), {R"(tensor "conv1.weight")", "no others"});
}

TEST(WeightsFile, NamesTheTensorOfAnotherShape) {
  expect_weights_refused(changed_file([](auto& tensors) {
                           named(tensors, "conv1.weight").shape = {1, 4, 3, 3};
                         }),
                         {R"(tensor "conv1.weight": expected shape [4, 1, 3, 3], found [1, 4, 3, 3])"});
  expect_weights_refused(changed_file([](auto& tensors) {
                           named(tensors, "fc1.weight").shape = {36, 7};
                         }),
                         {R"(tensor "fc1.weight": expected shape [7, 36], found [36, 7])"});
}

TEST(WeightsFile, RefusesATensorThatTheNetworkHasNot) {
  expect_weights_refused(
      changed_file([](auto& tensors) {
        tensors.push_back({"conv1.bias", {4}, {0, 0, 0, 0}});
      }),
      {R"(tensor "conv1.bias" is not in small)", R"(expected: "conv1.weight", "conv2.weight", "conv2.bias")"});
}

TEST(WeightsFile, RefusesValuesThatAreNotFinite) {
  expect_weights_refused(changed_file([](auto& tensors) { named(tensors, "fc2.weight").values[9] = std::nanf(""); }),
                         {R"(tensor "fc2.weight": element 9: expected a finite number, found nan)"});
  const float infinity = std::numeric_limits<float>::infinity();
  expect_weights_refused(changed_file([&](auto& tensors) { named(tensors, "fc2.bias").values[0] = -infinity; }),
                         {R"(tensor "fc2.bias": element 0)", "found -inf"});
}

TEST(WeightsFile, DoesNotWriteWhatIsNotTheNetworksOwn) {
  NetworkWeights weights = initial_weights(network_with_groups(), 2);
  weights.layers.at("fc1").weights.pop_back();
  EXPECT_THROW(weights_file_content(network_with_groups(), weights, {}), std::logic_error);
  weights.layers.erase("fc1");
  EXPECT_THROW(weights_file_content(network_with_groups(), weights, {}), std::out_of_range);
}

}  // namespace
}  // namespace convladder
