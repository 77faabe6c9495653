// Layers of networks as sizes of problems.
#include <gtest/gtest.h>

#include <map>

#include "network/layer_operators.hpp"
#include "variants/convolution/fused/fused_shape.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

/// conv1 with bias, tanh and overlapping windows; conv2 with neither behind it; a fully connected layer with bias.
const char* const kText = R"({"name": "small", "title": "Small", "input": {"channels": 1, "height": 24, "width": 20},
  "layers": [{"name": "conv1", "type": "convolution", "out_channels": 5, "kernel": 5, "padding": 1, "bias": true},
             {"name": "activation1", "type": "tanh"},
             {"name": "pool1", "type": "max_pool", "size": 3, "stride": 2},
             {"name": "conv2", "type": "convolution", "out_channels": 4, "kernel": 3},
             {"name": "fc1", "type": "fully_connected", "out_features": 10, "bias": true},
             {"name": "softmax", "type": "softmax"}], "batches": [3]})";

/// Layer and size of each, in order.
std::string layers_of(std::string_view problem) {
  const Network network = parse_network(kText, "small.json");
  std::string text;
  for (const ProblemLayer& layer : problem_layers(network, *find_problem(problem))) {
    text += fmt::format("{} {}; ", network.layers[layer.index].name, size_name(layer.size));
    EXPECT_EQ(size_error(layer.size), "");
    EXPECT_EQ(layer.size.batch, 1);
    EXPECT_EQ(layer.size, parse_size(*find_problem(problem), size_name(layer.size)));
  }
  return text;
}

TEST(ProblemLayers, AreTheSizesThatTheNetworkRuns) {
  EXPECT_EQ(layers_of("convolution"), "conv1 C1H24W20M5K5P1; conv2 C5H10W8M4K3; ");
  EXPECT_EQ(layers_of("bias"), "conv1 C5H22W18; ");
  EXPECT_EQ(layers_of("tanh"), "activation1 C5H22W18; ");
  EXPECT_EQ(layers_of("relu"), "");
  EXPECT_EQ(layers_of("max-pooling"), "pool1 C5H22W18K3S2; ");
  EXPECT_EQ(layers_of("fully-connected"), "fc1 C4H8W6M10B1; ");
  EXPECT_EQ(layers_of("softmax"), "softmax C10; ");
  EXPECT_EQ(layers_of("fused-convolution"), "conv1 C1H24W20M5K5P1B1T1Q3; ");
}

TEST(FusedProblem, TakesReluForWholeNumbers) {
  const ProblemSize size = parse_size(fused_problem(), "C1H24W20M5K5T1");
  const ProblemSize whole = fused_problem().whole_number_size(size);
  EXPECT_EQ(size_name(whole), "C1H24W20M5K5");
  EXPECT_FALSE(fused_problem().is_exact_on_whole_numbers(size, kFloat32Tolerance));
  EXPECT_TRUE(fused_problem().is_exact_on_whole_numbers(whole, kFloat32Tolerance));
  EXPECT_EQ(ProblemSize(fused_shape(size)), size);
}

TEST(FusedProblem, HasEachStagesSeparateOperatorsBelowWhatFusesThem) {
  std::map<std::string_view, int> rungs;
  for (const ProblemVariant& one : fused_problem().variants()) {
    EXPECT_EQ(one.info.rung, ++rungs[one.info.family]) << one.info.name;
    if (one.info.builds_on.empty()) {
      EXPECT_TRUE(one.info.name.starts_with("separate-")) << one.info.name;
      continue;
    }
    const ProblemVariant* const below = find_variant(fused_problem(), one.info.family, one.info.builds_on);
    ASSERT_NE(below, nullptr) << one.info.name;
    EXPECT_LT(below->info.rung, one.info.rung);
  }
  EXPECT_GE(rungs["cpu"], 4);
}

}  // namespace
}  // namespace convladder
