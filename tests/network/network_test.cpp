#include "network/network.hpp"
#include "network/built_in_network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "expect_error.hpp"
#include "support/errors.hpp"
#include "variants/convolution/conv_shape.hpp"

namespace convladder {
namespace {

/// The beginning of a network of 1x28x28 images, to be continued with its layers.
std::string with_layers(const std::string& layers) {
  return R"({"name": "n", "title": "t", "input": {"channels": 1, "height": 28, "width": 28}, "layers": [)" + layers +
         "]}";
}

std::string convolution(const std::string& fields) {
  return with_layers(R"({"name": "conv1", "type": "convolution", )" + fields + "}");
}

void expect_network_refused(const std::string& text, std::initializer_list<std::string_view> parts) {
  SCOPED_TRACE(text);
  expect_error<UserError>([&] { parse_network(text, "own.json"); }, {"own.json"});
  expect_error<UserError>([&] { parse_network(text, "own.json"); }, parts);
}

std::vector<ActivationShape> outputs_of(const Network& network) {
  std::vector<ActivationShape> outputs;
  for (const Layer& layer : network.layers) outputs.push_back(layer.output);
  return outputs;
}

std::vector<LayerType> types_of(const Network& network) {
  std::vector<LayerType> types;
  for (const Layer& layer : network.layers) types.push_back(layer.type);
  return types;
}

TEST(BuiltInNetworks, AreSortedByNameAndConsistent) {
  EXPECT_TRUE(std::ranges::is_sorted(built_in_networks(), {}, &Network::name));
  for (const Network& network : built_in_networks()) {
    SCOPED_TRACE(network.name);
    EXPECT_FALSE(network.title.empty());
    ActivationShape shape = network.input;
    for (const Layer& layer : network.layers) {
      EXPECT_EQ(layer.input, shape) << layer.name;
      shape = layer.output;
    }
    ASSERT_FALSE(convolution_layers(network).empty());
    for (const std::size_t index : convolution_layers(network)) {
      const Layer& layer = network.layers[index];
      EXPECT_EQ(layer.type, LayerType::convolution);
      EXPECT_EQ(layer.size.batch, 1);
      EXPECT_EQ(layer.size.at("in_channels"), layer.input.channels);
      EXPECT_EQ(size_error(layer.size), "");
    }
  }
}

TEST(BuiltInNetworks, Lenet28HasTheShapesOfItsEdition) {
  const Network& network = built_in("lenet28");
  EXPECT_EQ(network.input, (ActivationShape{1, 28, 28}));
  EXPECT_EQ(outputs_of(network),
            (std::vector<ActivationShape>{
                {50, 24, 24}, {50, 24, 24}, {50, 12, 12}, {500, 1, 1}, {500, 1, 1}, {10, 1, 1}, {10, 1, 1}}));
  EXPECT_EQ(network.layers[3].input.elements(), 7200U);
  EXPECT_EQ(types_of(network),
            (std::vector{LayerType::convolution, LayerType::tanh, LayerType::max_pool, LayerType::fully_connected,
                         LayerType::tanh, LayerType::fully_connected, LayerType::softmax}));
  EXPECT_EQ(network.layers[0].size, ProblemSize(ConvShape{1, 1, 28, 28, 50, 5}));
  EXPECT_FALSE(network.layers[0].bias);
  EXPECT_TRUE(network.layers[3].bias);
  EXPECT_TRUE(network.layers[5].bias);
}

TEST(BuiltInNetworks, Lenet72HasTheShapesOfItsEdition) {
  const Network& network = built_in("lenet72");
  EXPECT_EQ(network.input, (ActivationShape{1, 72, 72}));
  EXPECT_EQ(
      outputs_of(network),
      (std::vector<ActivationShape>{
          {12, 66, 66}, {12, 66, 66}, {12, 33, 33}, {24, 27, 27}, {160, 1, 1}, {160, 1, 1}, {10, 1, 1}, {10, 1, 1}}));
  EXPECT_EQ(network.layers[4].input.elements(), 17496U);
  ASSERT_EQ(convolution_layers(network), (std::vector<std::size_t>{0, 3}));
  EXPECT_EQ(network.layers[0].size, ProblemSize(ConvShape{1, 1, 72, 72, 12, 7}));
  EXPECT_EQ(network.layers[3].size, ProblemSize(ConvShape{1, 12, 33, 33, 24, 7}));
  EXPECT_EQ(network.layers[4].type, LayerType::fully_connected) << "conv2 has neither activation nor pooling after it";
  EXPECT_EQ(network.layers[2].size.at("pool_size"), 2);
  EXPECT_EQ(network.layers[2].size.at("pool_stride"), 2);
}

TEST(BuiltInNetworks, HaveTheLayersOfTheirEditions) {
  const auto expect_features = [](const char* name, std::size_t convolutions, std::vector<std::size_t> features) {
    SCOPED_TRACE(name);
    const Network& network = built_in(name);
    EXPECT_EQ(convolution_layers(network).size(), convolutions);
    std::vector<std::size_t> found;
    for (const Layer& layer : network.layers) {
      if (layer.type == LayerType::fully_connected) found.push_back(layer.input.elements());
    }
    found.push_back(network.layers.back().output.elements());
    EXPECT_EQ(found, features);
  };
  expect_features("lenet28", 1, {7200, 500, 10});
  expect_features("lenet48", 2, {5184, 140, 10});
  expect_features("lenet64", 2, {10816, 140, 10});
  expect_features("lenet70", 2, {20184, 160, 10});
  expect_features("lenet72", 2, {17496, 160, 10});
  expect_features("lenet86", 2, {1024, 32, 10});
  expect_features("alexnet", 5, {9216, 4096, 4096, 1000});
  EXPECT_EQ(built_in("alexnet").layers[0].size, ProblemSize(ConvShape{1, 3, 227, 227, 96, 11, 4}));
  EXPECT_EQ(built_in("alexnet").layers[3].size, ProblemSize(ConvShape{1, 96, 27, 27, 256, 5, 1, 2}));
  EXPECT_TRUE(built_in("alexnet").layers[0].bias);
}

TEST(NetworkFile, InfersEveryShape) {
  const Network network = parse_network(
      with_layers(R"({"name": "c1", "type": "convolution", "out_channels": 6, "kernel": 5, "stride": 2, "padding": 2},
                     {"name": "r1", "type": "relu", "comment": "a comment is not a field"},
                     {"name": "p1", "type": "max_pool", "size": 3, "stride": 2},
                     {"name": "c2", "type": "convolution", "out_channels": 4, "kernel": 3, "groups": 2, "bias": true})"),
      "own.json");
  EXPECT_EQ(network.name, "n");
  EXPECT_EQ(network.title, "t");
  EXPECT_EQ(outputs_of(network), (std::vector<ActivationShape>{{6, 14, 14}, {6, 14, 14}, {6, 6, 6}, {4, 4, 4}}));
  EXPECT_EQ(network.layers[0].size, ProblemSize(ConvShape{1, 1, 28, 28, 6, 5, 2, 2, 1}));
  EXPECT_EQ(network.layers[3].size, ProblemSize(ConvShape{1, 6, 6, 6, 4, 3, 1, 0, 2}));
  EXPECT_FALSE(network.layers[0].bias);
  EXPECT_TRUE(network.layers[3].bias);
  EXPECT_EQ(convolution_layers(network), (std::vector<std::size_t>{0, 3}));
}

TEST(NetworkFile, SaysWhereItIsNoJson) {
  expect_network_refused("", {"byte 1", "not valid JSON"});
  expect_network_refused(R"({"name": )", {"byte 10", "not valid JSON"});
  const std::string whole = convolution(R"("out_channels": 6, "kernel": 5)");
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    expect_network_refused(whole.substr(0, bytes), {"byte", "not valid JSON"});
  }
  EXPECT_NO_THROW(parse_network(whole, "own.json"));
}

TEST(NetworkFile, NamesWhatIsMissingAtTheTop) {
  expect_network_refused("[]", {"expected an object"});
  expect_network_refused("{}", {"own.json: not a network file: it has no name, title, input, layers"});
  expect_network_refused(R"({"name": "n"})", {"it has no title, input, layers"});
  expect_network_refused(R"({"name": "n", "title": "t", "layers": []})", {"it has no input"});
  expect_network_refused(R"({"name": "n", "title": "t", "input": {}})", {"it has no layers"});
  expect_network_refused(R"({"name": "n", "title": "t", "layers": [], "input": 3})", {"input", "expected an object"});
  expect_network_refused(R"({"name": "n", "title": "t", "layers": [], "input": {"channels": 1, "height": 8}})",
                         {"input", "width"});
  expect_network_refused(R"({"name": "", "title": "t", "input": {}, "layers": []})", {"name: expected a"});
  expect_network_refused(R"({"name": 3, "title": "t", "input": {}, "layers": []})", {"name: expected a"});
}

TEST(NetworkFile, RefusesAnInputOfNoSize) {
  for (const char* value : {"0", "-1", "1.5", "\"8\"", "1e30", "99999999", "18446744073709551615", "null", "[8]"}) {
    expect_network_refused(
        std::string(R"({"name": "n", "title": "t", "layers": [], "input": {"channels": 1, "height": )") + value +
            R"(, "width": 8}})",
        {"input", "height: expected a whole number from 1 to 1048576"});
  }
}

TEST(NetworkFile, RefusesANumberBeyondEveryType) {
  expect_network_refused("1e999", {"a number beyond the range of a double"});
  expect_network_refused(convolution(R"("out_channels": -1e400)"), {"a number beyond the range of a double"});
}

TEST(NetworkFile, NeedsAListOfLayers) {
  const std::string head = R"({"name": "n", "title": "t", "input": {"channels": 1, "height": 8, "width": 8}, )";
  for (const char* layers : {"[]", "{}", "3", "null", "\"conv\""}) {
    expect_network_refused(head + R"("layers": )" + layers + "}", {"layers: expected"});
  }
  expect_network_refused(with_layers("3"), {"layer 1", "expected an object"});
}

TEST(NetworkFile, NamesTheLayerAndTheFieldThatIsMissing) {
  expect_network_refused(with_layers(R"({"type": "tanh"})"), {"layer 1", "name: expected"});
  expect_network_refused(with_layers(R"({"name": "a"})"), {"layer 1", "type: expected"});
  expect_network_refused(with_layers(R"({"name": "a", "type": "tanh"}, {"name": "p", "type": "max_pool", "size": 2})"),
                         {"layer 2", "stride: expected"});
  expect_network_refused(with_layers(R"({"name": "p", "type": "max_pool", "stride": 2})"),
                         {"layer 1", "size: expected"});
  expect_network_refused(with_layers(R"({"name": "f", "type": "fully_connected"})"),
                         {"layer 1", "out_features: expected"});
  expect_network_refused(convolution(R"("kernel": 5)"), {"layer 1", "out_channels: expected"});
  expect_network_refused(convolution(R"("out_channels": 5)"), {"layer 1", "kernel: expected"});
}

TEST(NetworkFile, NamesTheLayerByItsName) {
  expect_network_refused(convolution(R"("out_channels": 2, "kernel": 29)"),
                         {"own.json: layer 1 'conv1': the kernel 29x29"});
  expect_network_refused(with_layers(R"({"name": "a", "type": "tanh"}, {"name": "p", "type": "max_pool", "size": 2})"),
                         {"own.json: layer 2 'p': stride: expected a whole number from 1 to 1048576, found nothing"});
}

TEST(NetworkFile, ListsOfBatchesHoldWholeNumbers) {
  const std::string head = R"({"name": "n", "title": "t", "input": {"channels": 1, "height": 8, "width": 8},
      "layers": [{"name": "a", "type": "tanh"}], "batches": )";
  EXPECT_EQ(parse_network(head + "[3, 1]}", "own.json").batches, (std::vector<int>{3, 1}));
  for (const char* batches : {"[]", "3", "[0]", "[1.5]", "[1, \"2\"]", "{}", "null", "[1e30]"}) {
    expect_network_refused(head + batches + "}", {"own.json: batches", "expected"});
  }
}

TEST(NetworkFile, NamesTheFieldOfTheWrongKind) {
  for (const char* field : {"out_channels", "kernel", "stride", "padding", "groups"}) {
    for (const char* value : {"\"2\"", "2.5", "-1", "true", "null"}) {
      std::string fields;
      for (const char* needed : {"out_channels", "kernel"}) {
        if (std::string_view(needed) != field) fields += std::string("\"") + needed + "\": 4, ";
      }
      expect_network_refused(
          convolution(fields + '"' + field + "\": " + value),
          {"layer 1", std::string(field) + ": expected a whole number", std::string("found ") + value});
    }
  }
  expect_network_refused(convolution(R"("out_channels": 2, "kernel": 3, "bias": 1)"),
                         {"layer 1", "bias: expected true or false"});
  expect_network_refused(with_layers(R"({"name": 1, "type": "tanh"})"), {"layer 1", "name: expected a"});
  expect_network_refused(with_layers(R"({"name": "a", "type": 1})"), {"layer 1", "type: expected a string"});
}

TEST(NetworkFile, ListsTheTypesThereAre) {
  expect_network_refused(with_layers(R"({"name": "a", "type": "conv"})"),
                         {"layer 1", "type: expected one of", "found \"conv\"", "convolution", "tanh", "relu",
                          "max_pool", "softmax", "fully_connected"});
}

TEST(NetworkFile, RefusesFieldsItDoesNotKnow) {
  expect_network_refused(convolution(R"("out_channels": 2, "kernel": 3, "strides": 2)"),
                         {"layer 1", R"(unknown field "strides")"});
  expect_network_refused(with_layers(R"({"name": "a", "type": "tanh", "size": 2})"),
                         {"layer 1", R"(unknown field "size")"});
  expect_network_refused(R"({"name": "n", "title": "t", "layer": [], "layers": [],
                     "input": {"channels": 1, "height": 8, "width": 8}})",
                         {R"(unknown field "layer")"});
  expect_network_refused(R"({"name": "n", "title": "t", "layers": [],
                     "input": {"channels": 1, "height": 8, "width": 8, "depth": 8}})",
                         {"input", R"(unknown field "depth")"});
}

TEST(NetworkFile, RefusesANameThatIsTaken) {
  expect_network_refused(with_layers(R"({"name": "a", "type": "tanh"}, {"name": "b", "type": "tanh"},
                                {"name": "a", "type": "relu"})"),
                         {"layer 3", "name: expected another name"});
  // The bias of a convolution is a step with a name of its own.
  expect_network_refused(
      with_layers(R"({"name": "c", "type": "convolution", "out_channels": 2, "kernel": 3, "bias": true},
                                        {"name": "c bias", "type": "relu"})"),
      {"layer 2", "name: expected another name"});
}

TEST(NetworkFile, RefusesSizesThatDoNotFit) {
  expect_network_refused(convolution(R"("out_channels": 2, "kernel": 29)"), {"layer 1", "kernel 29x29", "28x28"});
  expect_network_refused(convolution(R"("out_channels": 2, "kernel": 3, "padding": 3)"), {"layer 1", "padding 3"});
  expect_network_refused(convolution(R"("out_channels": 2, "kernel": 3, "groups": 2)"), {"layer 1", "groups 2"});
  expect_network_refused(with_layers(R"({"name": "p", "type": "max_pool", "size": 29, "stride": 1})"),
                         {"layer 1", "'size' 29", "28x28"});
  expect_network_refused(with_layers(R"({"name": "c", "type": "convolution", "out_channels": 1048576, "kernel": 1},
                                {"name": "d", "type": "convolution", "out_channels": 1048576, "kernel": 1})"),
                         {"layer 2", "2^31"});
}

TEST(NetworkFile, RefusesMoreWeightsThanCanBeCounted) {
  expect_network_refused(with_layers(R"({"name": "f", "type": "fully_connected", "out_features": 1048576},
                                {"name": "g", "type": "fully_connected", "out_features": 2049})"),
                         {"layer 2", "2049 for 1048576 inputs", "2^31 weights"});
  expect_network_refused(
      R"({"name": "n", "title": "t", "input": {"channels": 1048576, "height": 1048576, "width": 1048576},
                     "layers": [{"name": "f", "type": "fully_connected", "out_features": 1048576}]})",
      {"layer 1", "2^31 weights"});
}

TEST(NetworkFile, RefusesDeepNesting) {
  expect_network_refused(std::string(100'000, '['), {"nested more than 64 deep"});
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += R"({"layers":)";
  expect_network_refused(objects, {"nested more than 64 deep"});
}

TEST(NetworkFile, TextsInMessagesAreShortAndOnOneLine) {
  expect_network_refused(with_layers(R"({"name": "a", "type": "tanh", "li\nne": 1})"), {R"(unknown field "li\nne")"});
  const std::string numbers = fmt::format("[{}1]", fmt::join(std::vector<int>(1000, 7), ","));
  try {
    parse_network(convolution(fmt::format(R"("kernel": 5, "out_channels": {})", numbers)), "own.json");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_LT(std::string_view(error.what()).size(), 200U);
  }
}

TEST(NetworkFile, AcceptsSizesThatJustFit) {
  const Network whole_image = parse_network(convolution(R"("out_channels": 2, "kernel": 28)"), "own.json");
  EXPECT_EQ(whole_image.layers[0].output, (ActivationShape{2, 1, 1}));
  const Network whole_pool =
      parse_network(with_layers(R"({"name": "p", "type": "max_pool", "size": 28, "stride": 5})"), "own.json");
  EXPECT_EQ(whole_pool.layers[0].output, (ActivationShape{1, 1, 1}));
}

}  // namespace
}  // namespace convladder
