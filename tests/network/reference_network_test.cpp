#include "network/reference_network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "datasets/image_set.hpp"
#include "datasets/synthetic_images.hpp"

namespace convladder {
namespace {

/// Two channels of 1x2 pixels; the first fully connected layer mixes them, the second is read as scores.
Network network_by_hand() {
  return parse_network(R"({"name": "n", "title": "t", "input": {"channels": 1, "height": 3, "width": 4}, "layers": [
      {"name": "c", "type": "convolution", "out_channels": 2, "kernel": 2, "bias": true},
      {"name": "r", "type": "relu"},
      {"name": "p", "type": "max_pool", "size": 2, "stride": 1},
      {"name": "f", "type": "fully_connected", "out_features": 3, "bias": true},
      {"name": "s", "type": "softmax"}]})",
                       "n.json");
}

NetworkWeights weights_by_hand() {
  NetworkWeights weights;
  weights.layers["c"] = {{1, 0, 0, 0, 0, 0, 0, -1}, {0.5F, 10}};
  weights.layers["f"] = {{1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1}, {0, 0.25F, -30}};
  return weights;
}

const std::vector<float> kImage = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

TEST(ReferenceNetwork, RunsEveryLayerByItsDefinition) {
  const Network network = network_by_hand();
  const NetworkWeights weights = weights_by_hand();
  const ReferenceNetwork reference(network, weights);
  const auto activations = [&](std::size_t end, std::size_t elements) {
    std::vector<float> values(elements);
    reference.activations(end, 1, kImage.data(), values.data());
    return values;
  };
  EXPECT_EQ(activations(0, 12), kImage);
  EXPECT_EQ(activations(1, 12), (std::vector<float>{1.5, 2.5, 3.5, 5.5, 6.5, 7.5, 4, 3, 2, 0, -1, -2}));
  EXPECT_EQ(activations(2, 12), (std::vector<float>{1.5, 2.5, 3.5, 5.5, 6.5, 7.5, 4, 3, 2, 0, 0, 0}));
  EXPECT_EQ(activations(3, 4), (std::vector<float>{6.5, 7.5, 4, 3}));
  EXPECT_EQ(activations(4, 3), (std::vector<float>{6.5, 7.75, -9}));
  const std::vector<float> scores = activations(5, 3);
  const double sum = std::exp(-1.25) + 1 + std::exp(-16.75);
  EXPECT_FLOAT_EQ(scores[0], static_cast<float>(std::exp(-1.25) / sum));
  EXPECT_FLOAT_EQ(scores[1], static_cast<float>(1 / sum));
  EXPECT_FLOAT_EQ(scores[2], static_cast<float>(std::exp(-16.75) / sum));
}

TEST(ReferenceNetwork, PredictsFromTheScoresBeforeTheSoftmax) {
  const Network network = network_by_hand();
  const NetworkWeights weights = weights_by_hand();
  const auto predictions = ReferenceNetwork(network, weights).predictions(1, kImage.data());
  ASSERT_EQ(predictions.size(), 1U);
  EXPECT_EQ(predictions[0].best, 1);
  EXPECT_EQ(predictions[0].second, 0);
  EXPECT_DOUBLE_EQ(predictions[0].gap, 1.25);
  EXPECT_DOUBLE_EQ(predictions[0].rounding, 2 * 1e-6 * (7.75 + 6.5));
  EXPECT_FALSE(predictions[0].within_rounding());
}

TEST(ReferenceNetwork, SeesScoresThatAreTooCloseToTell) {
  const Network network = network_by_hand();
  NetworkWeights weights = weights_by_hand();
  weights.layers["f"].bias = {1, 0, -30};  // 7.5 and 7.5
  const auto predictions = ReferenceNetwork(network, weights).predictions(1, kImage.data());
  EXPECT_EQ(predictions[0].best, 0) << "of equal scores the first";
  EXPECT_TRUE(predictions[0].within_rounding());
}

TEST(ReferenceNetwork, ManyImagesAreTheSameAsOneByOne) {
  const Network& network = built_in_networks()[1];
  ASSERT_EQ(network.name, "lenet28");
  const NetworkWeights weights = initial_weights(network, 3);
  const ReferenceNetwork reference(network, weights);
  constexpr int kImages = 70;  // more than are run at a time
  std::vector<float> images(network.input.elements() * kImages);
  fill_image_batch(synthetic_images(kImages, 1), 0, kImages, 1, 28, 28, images.data());
  int done = 0;
  const auto all = reference.predictions(kImages, images.data(), [&done](int images_done) { done = images_done; });
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kImages));
  EXPECT_EQ(done, kImages);
  for (const int i : {0, 63, 64, 69}) {
    const auto one = reference.predictions(1, images.data() + i * network.input.elements());
    EXPECT_EQ(one[0].best, all[i].best);
    EXPECT_EQ(one[0].gap, all[i].gap);
  }
}

TEST(LargestIndex, PassesOverNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(largest_index(std::vector<float>{1, 3, 2}.data(), 3), 1);
  EXPECT_EQ(largest_index(std::vector<float>{3, 3, 2}.data(), 3), 0);
  EXPECT_EQ(largest_index(std::vector<float>{nan, -5, -7}.data(), 3), 1);
  EXPECT_EQ(largest_index(std::vector<float>{1, nan, 7}.data(), 3), 2);
  EXPECT_EQ(largest_index(std::vector<float>{nan, nan}.data(), 2), 0);
}

}  // namespace
}  // namespace convladder
