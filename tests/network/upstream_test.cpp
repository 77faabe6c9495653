#include "network/built_in_network.hpp"
#include "network/reference_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "network/weights.hpp"
#include "support/seeded_random.hpp"
#include "variants/convolution/conv_shape.hpp"

namespace convladder {
namespace {

constexpr std::size_t kConv2 = 3;  // of lenet72

std::vector<float> pixels(const Network& network, int count) {
  std::vector<float> values(network.input.elements() * static_cast<std::size_t>(count));
  SeededRandom random(9, 0);
  for (float& value : values) value = static_cast<float>(random.between(0, 255));
  return values;
}

/// conv1, tanh and 2x2 pooling of lenet72 for one image, written out.
std::vector<double> lenet72_conv2_input(const float* image, const std::vector<float>& weights) {
  std::vector<double> result;
  for (int m = 0; m < 12; ++m) {
    for (int row = 0; row < 33; ++row) {
      for (int column = 0; column < 33; ++column) {
        double largest = -std::numeric_limits<double>::infinity();
        for (int corner = 0; corner < 4; ++corner) {
          const int oh = 2 * row + corner / 2;
          const int ow = 2 * column + corner % 2;
          double sum = 0;
          for (int p = 0; p < 7; ++p) {
            for (int q = 0; q < 7; ++q) sum += double{image[(oh + p) * 72 + ow + q]} * weights[(m * 7 + p) * 7 + q];
          }
          largest = std::max(largest, std::tanh(sum));
        }
        result.push_back(largest);
      }
    }
  }
  return result;
}

TEST(Upstream, IsWhatTheLayersBeforeConv2Make) {
  const Network& network = built_in("lenet72");
  const std::vector<float> images = pixels(network, 3);
  const std::vector<float> weights = initial_convolution_weights(network, 0, 4);
  const std::size_t elements = std::size_t{12} * 33 * 33;
  std::vector<float> activations(3 * elements, std::nanf(""));
  upstream_activations(network, kConv2, 3, images.data(), 4, activations.data());
  for (int image = 0; image < 3; ++image) {
    const std::vector<double> expected = lenet72_conv2_input(images.data() + image * 72 * 72, weights);
    for (std::size_t i = 0; i < elements; ++i) {
      const double error = std::abs(activations[image * elements + i] - expected[i]);
      ASSERT_TRUE(error <= 1e-5) << "image " << image << " element " << i << ": " << activations[image * elements + i]
                                 << " instead of " << expected[i];
    }
  }
}

TEST(Upstream, AChunkOfImagesDoesNotChangeThem) {
  const Network& network = built_in("lenet48");
  const std::vector<float> images = pixels(network, 130);
  const std::size_t elements = network.layers[kConv2].input.elements();
  std::vector<float> all(130 * elements);
  upstream_activations(network, kConv2, 130, images.data(), 1, all.data());
  for (const int count : {1, 63, 64, 65, 128, 129}) {
    std::vector<float> some(count * elements, std::nanf(""));
    upstream_activations(network, kConv2, count, images.data(), 1, some.data());
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << count << " images";
  }
  std::vector<float> last(elements);
  upstream_activations(network, kConv2, 1, images.data() + 129 * network.input.elements(), 1, last.data());
  EXPECT_TRUE(std::equal(last.begin(), last.end(), all.end() - static_cast<std::ptrdiff_t>(elements)));
}

TEST(Upstream, WritesNotOneElementMore) {
  const Network& network = built_in("lenet72");
  const std::vector<float> images = pixels(network, 2);
  const std::size_t elements = network.layers[kConv2].input.elements();
  std::vector<float> activations(3 * elements, 77.0F);
  upstream_activations(network, kConv2, 2, images.data(), 1, activations.data());
  EXPECT_EQ(std::ranges::count(activations, 77.0F), static_cast<std::ptrdiff_t>(elements));
}

TEST(Upstream, OfTheFirstLayerIsTheImage) {
  const Network& network = built_in("lenet28");
  const std::vector<float> images = pixels(network, 2);
  std::vector<float> activations(images.size());
  upstream_activations(network, 0, 2, images.data(), 1, activations.data());
  EXPECT_EQ(activations, images);
}

TEST(Upstream, AppliesReluAndOverlappingPooling) {
  const Network network = parse_network(R"({"name": "n", "title": "t",
      "input": {"channels": 1, "height": 4, "width": 5},
      "layers": [{"name": "r", "type": "relu"}, {"name": "p", "type": "max_pool", "size": 3, "stride": 1},
                 {"name": "c", "type": "convolution", "out_channels": 1, "kernel": 1}]})",
                                        "own.json");
  const std::vector<float> image = {-1, -2, -3, -4, 5,   //
                                    -1, -2, -3, -4, -5,  //
                                    -1, 7,  -3, -4, -5,  //
                                    -1, -2, -3, -4, -9};
  std::vector<float> activations(6, -1.0F);
  upstream_activations(network, 2, 1, image.data(), 1, activations.data());
  EXPECT_EQ(activations, (std::vector<float>{7, 7, 5, 7, 7, 0}));
}

TEST(Upstream, DependsOnTheSeed) {
  const Network& network = built_in("lenet72");
  const std::vector<float> images = pixels(network, 1);
  std::vector<float> one(network.layers[kConv2].input.elements());
  std::vector<float> other(one.size());
  upstream_activations(network, kConv2, 1, images.data(), 1, one.data());
  upstream_activations(network, kConv2, 1, images.data(), 2, other.data());
  EXPECT_NE(one, other);
}

TEST(Weights, AreTheSameForTheSameSeedAndOthersForAnother) {
  const Network& network = built_in("lenet72");
  for (const std::size_t layer : convolution_layers(network)) {
    const std::vector<float> weights = initial_convolution_weights(network, layer, 7);
    EXPECT_EQ(weights.size(), static_cast<std::size_t>(network.layers[layer].size.constant_elements()));
    EXPECT_EQ(weights, initial_convolution_weights(network, layer, 7));
    EXPECT_NE(weights, initial_convolution_weights(network, layer, 8));
    EXPECT_GT(std::set<float>(weights.begin(), weights.end()).size(), weights.size() * 99 / 100);
  }
}

TEST(Weights, ReachGlorotsLimitWithThePixelScaleFoldedIntoTheFirstLayer) {
  const Network& network = built_in("lenet72");
  const double limits[] = {std::sqrt(6.0 / (49 * (1 + 12))) / 255, std::sqrt(6.0 / (49 * (12 + 24)))};
  int i = 0;
  for (const std::size_t layer : convolution_layers(network)) {
    double largest = 0;
    double sum = 0;
    const std::vector<float> weights = initial_convolution_weights(network, layer, 3);
    for (const float weight : weights) {
      largest = std::max(largest, std::abs(double{weight}));
      sum += weight;
    }
    EXPECT_LE(largest, limits[i] * (1 + 1e-6)) << layer;
    EXPECT_GE(largest, limits[i] * 0.97) << layer;
    EXPECT_LE(std::abs(sum), 4 * limits[i] * std::sqrt(static_cast<double>(weights.size()) / 3)) << layer;
    ++i;
  }
}

TEST(Weights, OfAShapeAloneTakeTheScaleTheyAreGiven) {
  const ConvShape shape{1, 4, 9, 9, 6, 3, 1, 0, 2};
  const std::vector<float> plain = initial_convolution_weights(shape, 1.0F, 5);
  const std::vector<float> scaled = initial_convolution_weights(shape, 0.25F, 5);
  ASSERT_EQ(plain.size(), scaled.size());
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(scaled[i], plain[i] * 0.25F);
  const double limit = std::sqrt(6.0 / (9 * (2 + 3)));  // of one group
  EXPECT_LE(*std::ranges::max_element(plain), limit);
  EXPECT_GE(*std::ranges::max_element(plain), 0.9 * limit);
}

}  // namespace
}  // namespace convladder
