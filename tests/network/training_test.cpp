// The trainer against a forward pass in double precision of our own, whose finite differences are the gradient's
// oracle.
#include "network/training/training.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "datasets/synthetic_images.hpp"
#include "expect_error.hpp"
#include "support/seeded_random.hpp"
#include "variants/convolution/conv_shape.hpp"

#if CONVLADDER_HAS_ONEDNN
#include "network/training/onednn_network.hpp"  // the only one that needs the library's headers
#endif

namespace convladder {
namespace {

Network network_of(const std::string& input, const std::string& layers) {
  return parse_network(fmt::format(R"({{"name": "tiny", "title": "t", "input": {}, "layers": [{}]}})", input, layers),
                       "tiny.json");
}

const Network& trainable_network() {
  static const Network network =
      network_of(R"({"channels": 1, "height": 28, "width": 28})",
                 R"({"name": "conv1", "type": "convolution", "out_channels": 4, "kernel": 5, "stride": 2},
         {"name": "relu1", "type": "relu"},
         {"name": "fc1", "type": "fully_connected", "out_features": 10, "bias": true},
         {"name": "softmax", "type": "softmax"})");
  return network;
}

#if CONVLADDER_HAS_ONEDNN

/// Every kind of layer, strides, padding, groups and biases; odd sizes.
const Network& every_layer() {
  static const Network network = network_of(
      R"({"channels": 2, "height": 9, "width": 8})",
      R"({"name": "conv1", "type": "convolution", "out_channels": 6, "kernel": 3, "padding": 1, "bias": true},
         {"name": "tanh1", "type": "tanh"},
         {"name": "pool1", "type": "max_pool", "size": 3, "stride": 2},
         {"name": "conv2", "type": "convolution", "out_channels": 4, "kernel": 2, "stride": 2, "groups": 2},
         {"name": "relu1", "type": "relu"},
         {"name": "fc1", "type": "fully_connected", "out_features": 7, "bias": true},
         {"name": "tanh2", "type": "tanh"},
         {"name": "fc2", "type": "fully_connected", "out_features": 5},
         {"name": "softmax", "type": "softmax"})");
  return network;
}

using Values = std::vector<double>;

Values convolved(const Layer& layer, const LayerWeights& weights, const Values& input) {
  const ConvShape s = conv_shape(layer.size);
  Values output;
  for (int m = 0; m < s.out_channels; ++m) {
    const int group = m / s.maps_per_group();
    for (int oh = 0; oh < s.out_height(); ++oh) {
      for (int ow = 0; ow < s.out_width(); ++ow) {
        double sum = layer.bias ? weights.bias[m] : 0;
        for (int c = 0; c < s.channels_per_group(); ++c) {
          for (int p = 0; p < s.kernel; ++p) {
            for (int q = 0; q < s.kernel; ++q) {
              const int h = oh * s.stride + p - s.padding;
              const int w = ow * s.stride + q - s.padding;
              if (h < 0 || h >= s.height || w < 0 || w >= s.width) continue;
              const int channel = group * s.channels_per_group() + c;
              sum += input[(channel * s.height + h) * s.width + w] *
                     weights.weights[((m * s.channels_per_group() + c) * s.kernel + p) * s.kernel + q];
            }
          }
        }
        output.push_back(sum);
      }
    }
  }
  return output;
}

Values pooled(const Layer& layer, const Values& input) {
  const int size = layer.size.at("pool_size");
  const int stride = layer.size.at("pool_stride");
  Values output;
  for (int c = 0; c < layer.output.channels; ++c) {
    for (int oh = 0; oh < layer.output.height; ++oh) {
      for (int ow = 0; ow < layer.output.width; ++ow) {
        double largest = -1e300;
        for (int p = 0; p < size; ++p) {
          for (int q = 0; q < size; ++q) {
            const int h = oh * stride + p;
            const int w = ow * stride + q;
            largest = std::max(largest, input[(c * layer.input.height + h) * layer.input.width + w]);
          }
        }
        output.push_back(largest);
      }
    }
  }
  return output;
}

Values multiplied(const Layer& layer, const LayerWeights& weights, const Values& input) {
  Values output;
  for (int o = 0; o < layer.output.channels; ++o) {
    double sum = layer.bias ? weights.bias[o] : 0;
    for (std::size_t i = 0; i < input.size(); ++i) sum += input[i] * weights.weights[o * input.size() + i];
    output.push_back(sum);
  }
  return output;
}

/// The cross entropy of one image.
double loss_of(const Network& network, const NetworkWeights& weights, Values values, int label) {
  for (const Layer& layer : network.layers) {
    if (layer.type == LayerType::convolution) {
      values = convolved(layer, weights.layers.at(layer.name), values);
    } else if (layer.type == LayerType::fully_connected) {
      values = multiplied(layer, weights.layers.at(layer.name), values);
    } else if (layer.type == LayerType::max_pool) {
      values = pooled(layer, values);
    } else if (layer.type == LayerType::tanh) {
      for (double& value : values) value = std::tanh(value);
    } else if (layer.type == LayerType::relu) {
      for (double& value : values) value = std::max(value, 0.0);
    }
  }
  const double largest = std::ranges::max(values);
  double sum = 0;
  for (const double value : values) sum += std::exp(value - largest);
  return std::log(sum) + largest - values[label];
}

/// Two images of every_layer()'s input with their labels, and weights without zeros.
struct GradientProblem {
  NetworkWeights weights = initial_weights(every_layer(), 3);
  std::vector<float> inputs = std::vector<float>(2 * every_layer().input.elements());
  std::vector<std::uint8_t> labels = {4, 1};

  GradientProblem() {
    SeededRandom random(5, 0);
    const auto uniform = [&random] { return static_cast<float>(random.between(-1000, 1000)) / 1000.0F; };
    for (float& value : inputs) value = uniform();
    for (auto& [name, layer] : weights.layers) {
      for (float& bias : layer.bias) bias = 0.3F * uniform();
    }
    for (float& weight : weights.layers.at("conv1").weights) weight /= kPixelScale;
  }

  double loss(const NetworkWeights& at) const {
    const std::size_t elements = every_layer().input.elements();
    double sum = 0;
    for (std::size_t image = 0; image < 2; ++image) {
      const auto begin = inputs.begin() + static_cast<std::ptrdiff_t>(image * elements);
      sum += loss_of(every_layer(), at, Values(begin, begin + static_cast<std::ptrdiff_t>(elements)), labels[image]);
    }
    return sum / 2;
  }
};

/// The central difference of the loss at one of `weights`; the step is measured, since weights are floats.
double finite_difference(const GradientProblem& problem, NetworkWeights& weights, float& weight) {
  constexpr float step = 0x1p-12F;
  const float before = weight;
  weight = before + step;
  const double above = weight;
  const double loss_above = problem.loss(weights);
  weight = before - step;
  const double below = weight;
  const double loss_below = problem.loss(weights);
  weight = before;
  return (loss_above - loss_below) / (above - below);
}

TEST(OnednnNetwork, GradientsAreTheFiniteDifferences) {
  const GradientProblem problem;
  OnednnNetwork passes(every_layer(), 2, problem.weights);
  std::ranges::copy(problem.inputs, passes.inputs().begin());
  passes.forward();
  const double loss = passes.backward(problem.labels);
  EXPECT_NEAR(loss, problem.loss(problem.weights), 1e-6);
  const NetworkWeights gradients = passes.gradients();
  NetworkWeights varied = problem.weights;
  int checked = 0;
  const auto check = [&](const std::string& name, std::vector<float>& values, const std::vector<float>& gradient) {
    ASSERT_EQ(values.size(), gradient.size()) << name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = finite_difference(problem, varied, values[i]);
      EXPECT_TRUE(std::abs(gradient[i] - expected) <= 1e-5 + 1e-4 * std::abs(expected))
          << name << " element " << i << ": " << gradient[i] << " instead of " << expected;
      ++checked;
    }
  };
  for (auto& [name, layer] : varied.layers) {
    check(name + ".weight", layer.weights, gradients.layers.at(name).weights);
    check(name + ".bias", layer.bias, gradients.layers.at(name).bias);
  }
  EXPECT_EQ(checked, 6 * 2 * 9 + 6 + 4 * 3 * 4 + 7 * 8 + 7 + 5 * 7);
}

TEST(OnednnNetwork, GivesBackTheWeightsItWasGiven) {
  const GradientProblem problem;
  OnednnNetwork passes(every_layer(), 2, problem.weights);
  EXPECT_EQ(passes.weights().layers, problem.weights.layers);
}

TEST(OnednnNetwork, AnUpdateIsAStepWithMomentum) {
  const GradientProblem problem;
  OnednnNetwork passes(every_layer(), 2, problem.weights);
  std::ranges::copy(problem.inputs, passes.inputs().begin());
  const auto step = [&](float rate) {
    passes.forward();
    passes.backward(problem.labels);
    passes.update(rate, 0.5F);
    return passes.gradients().layers.at("fc2").weights;
  };
  const std::vector<float> first = step(0.25F);
  const std::vector<float> second = step(0.125F);
  const std::vector<float>& before = problem.weights.layers.at("fc2").weights;
  const std::vector<float> after = passes.weights().layers.at("fc2").weights;
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_NEAR(after[i], before[i] - 0.25F * first[i] - 0.125F * (0.5F * first[i] + second[i]), 1e-6) << i;
  }
}

TrainedNetwork trained(const ImageSet& images, const TrainingOptions& options, std::vector<EpochResult>* epochs = {}) {
  const ImageRange all{&images, 0, images.count};
  TrainingListener listener{[](std::int64_t, std::int64_t) {},
                            [&](const EpochResult& result) {
                              if (epochs != nullptr) epochs->push_back(result);
                            }};
  return train(trainable_network(), all, all, options, listener);
}

TEST(Training, LearnsTwentyImagesByHeart) {
  const ImageSet images = synthetic_images(20, 1);
  std::vector<EpochResult> epochs;
  const TrainedNetwork result = trained(images, {.epochs = 60, .batch = 10}, &epochs);
  ASSERT_EQ(epochs.size(), 60U);
  EXPECT_LT(epochs.back().loss, 0.1);
  EXPECT_GT(epochs.front().loss, 1.0);
  EXPECT_EQ(epochs.back().updates, 120);
  EXPECT_EQ(result.last.right, 20);
  EXPECT_EQ(result.last.tested, 20);
}

TEST(Training, TakesRawPixels) {
  // The trained weights, applied to pixels of 0..255 by the forward pass above, must know the images.
  const ImageSet images = synthetic_images(20, 1);
  const NetworkWeights weights = trained(images, {.epochs = 60, .batch = 10}).weights;
  double loss = 0;
  for (int i = 0; i < images.count; ++i) {
    const std::uint8_t* const pixels = images.image(i);
    loss += loss_of(trainable_network(), weights, Values(pixels, pixels + 28 * 28), images.labels[i]) / images.count;
  }
  EXPECT_LT(loss, 0.1);
}

TEST(Training, TheSeedDecidesTheWeights) {
  const ImageSet images = synthetic_images(64, 1);
  const auto file = [&](std::uint64_t seed) {
    return weights_file_content(trainable_network(), trained(images, {.seed = seed, .epochs = 2, .batch = 16}).weights,
                                {});
  };
  const std::string one = file(1);
  EXPECT_EQ(one, file(1));
  EXPECT_NE(one, file(2));
}

TEST(Training, OnAGridTheFileHoldsWhatWasTested) {
  const ImageSet images = synthetic_images(20, 1);
  const TrainedNetwork result = trained(images, {.epochs = 60, .batch = 10, .grid_side = 3});
  EXPECT_GE(result.last.right, 18);
  const std::string file = weights_file_content(trainable_network(), result.weights, {}, 3);
  EXPECT_LT(file.size(), 6000U);  // 10 x 4 x 144 weights in 10 x 4 x 9 cells
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  EXPECT_EQ(parse_weights(trainable_network(), bytes, "f").layers, result.weights.layers);
}

TEST(Training, StopsEarlyWhereItIsTold) {
  const ImageSet images = synthetic_images(600, 1);
  std::vector<EpochResult> epochs;
  const TrainedNetwork result =
      trained(images, {.epochs = 50, .learning_rate = 0.002, .stop_at_accuracy = 0.6}, &epochs);
  EXPECT_LT(epochs.size(), 50U);
  EXPECT_GT(result.last.right, 300);
  EXPECT_LT(result.last.right, 500);
}

TEST(Training, ABatchIsNeverLargerThanTheImages) {
  EXPECT_EQ(trained(synthetic_images(7, 1), {.epochs = 3, .batch = 64}).last.updates, 3);
}

TEST(Training, RefusesWhatItCannotTrain) {
  const ImageSet images = synthetic_images(20, 1);
  const ImageRange all{&images, 0, images.count};
  const auto refused = [&](const std::string& layers, std::initializer_list<std::string_view> parts) {
    const Network network = network_of(R"({"channels": 1, "height": 28, "width": 28})", layers);
    expect_error<TrainingError>([&] { train(network, all, all, {}, {}); }, {"tiny"});
    expect_error<TrainingError>([&] { train(network, all, all, {}, {}); }, parts);
  };
  refused(R"({"name": "s", "type": "softmax"}, {"name": "f", "type": "fully_connected", "out_features": 10})",
          {"softmax 's' is not the last layer"});
  refused(R"({"name": "c", "type": "convolution", "out_channels": 10, "kernel": 3})", {"10x26x26", "each class"});
  refused(R"({"name": "p", "type": "max_pool", "size": 28, "stride": 1})", {"no layer has weights"});
  refused(R"({"name": "f", "type": "fully_connected", "out_features": 9})", {"label of image", "is 9", "9 outputs"});
}

TEST(Training, ALossThatIsNotFiniteIsSaid) {
  expect_error<TrainingError>([] { trained(synthetic_images(64, 1), {.epochs = 50, .learning_rate = 1e30}); },
                              {"the loss is not finite after", "learning rate"});
}

#else

TEST(Training, SaysThatOnednnIsMissing) {
  expect_one_line(training_unsupported(trainable_network()), {"without oneDNN", "libdnnl-dev"});
}

#endif

}  // namespace
}  // namespace convladder
