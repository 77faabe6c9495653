#include "network/training/training.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <span>

#include "datasets/image_set.hpp"
#include "network/training/onednn_network.hpp"
#include "network/weight_grid.hpp"
#include "support/half.hpp"
#include "support/seeded_random.hpp"
#include "variants/convolution/cpu/libraries/onednn_convolution.hpp"

namespace convladder {
namespace {

constexpr int kImagesJudged = 512;  // the last ones, for stop_at_accuracy

/// The weights of the layer that sees the pixels, times `factor`.
void scale_first_layer(const Network& network, NetworkWeights& weights, float factor) {
  const Layer& first = network.layers[first_layer_with_weights(network)];
  for (float& weight : weights.layers.at(first.name).weights) weight *= factor;
}

NetworkWeights starting_weights(const Network& network, std::uint64_t seed) {
  NetworkWeights weights = initial_weights(network, seed);
  scale_first_layer(network, weights, 1.0F / kPixelScale);
  return weights;
}

float in_half_precision(float value) { return simulated::to_float(simulated::round_to<simulated::Half>(value)); }

/// 0 .. count - 1 in random order.
std::vector<int> shuffled(int count, std::uint64_t seed, int epoch) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  SeededRandom random(seed, static_cast<std::uint64_t>(epoch));
  shuffle(order, random);
  return order;
}

void check_labels(const Network& network, const ImageRange& range) {
  const int classes = network.layers.back().output.channels;
  for (int i = range.first; i < range.first + range.count; ++i) {
    if (range.images->labels[i] >= classes) {
      throw TrainingError(fmt::format("{}: the label of image {} is {}; {} has {} outputs", range.images->source, i,
                                      range.images->labels[i], network.name, classes));
    }
  }
}

class Trainer {
 public:
  Trainer(const Network& network, const TrainingOptions& options, int batch)
      : input_(network.input),
        options_(options),
        batch_(batch),
        passes_(network, batch, starting_weights(network, options.seed)) {
    for (std::size_t i = 0; i < network.layers.size() && options.grid_side > 0; ++i) {
      if (is_on_grid(network, i, options.grid_side)) on_grid_.push_back(&network.layers[i]);
    }
    keep_to_grid(false);
  }

  /// One pass over the training images. Returns false if it ended early.
  bool run_epoch(const ImageRange& training, int epoch, std::int64_t updates_in_all, const TrainingListener& listener) {
    const std::vector<int> order = shuffled(training.count, options_.seed, epoch);
    double loss = 0;
    int batches = 0;
    bool stopped = false;
    for (int begin = 0; begin + batch_ <= training.count && !stopped; begin += batch_) {
      const std::vector<std::uint8_t> labels =
          load(training, std::span(order).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(batch_)));
      passes_.forward();
      stopped = good_enough(count_right(labels));
      const double batch_loss = passes_.backward(labels);
      if (!std::isfinite(batch_loss)) {
        throw TrainingError(fmt::format("the loss is not finite after {} updates: try a learning rate below {}",
                                        result_.updates, options_.learning_rate));
      }
      const double left = 1.0 - static_cast<double>(result_.updates) / static_cast<double>(updates_in_all);
      passes_.update(static_cast<float>(options_.learning_rate * left), static_cast<float>(options_.momentum));
      keep_to_grid(false);
      loss += batch_loss;
      ++batches;
      ++result_.updates;
      listener.update(result_.updates, updates_in_all);
    }
    result_.epoch = epoch;
    result_.loss = loss / batches;
    return !stopped;
  }

  /// Ends the training: what is tested next is what the file will hold.
  void finish() { keep_to_grid(true); }

  void evaluate(const ImageRange& test) {
    result_.tested = test.count;
    result_.right = 0;
    std::vector<int> indices(static_cast<std::size_t>(batch_));
    for (int begin = 0; begin < test.count; begin += batch_) {
      const int count = std::min(batch_, test.count - begin);
      indices.resize(static_cast<std::size_t>(count));
      std::iota(indices.begin(), indices.end(), begin);
      const std::vector<std::uint8_t> labels = load(test, indices);
      passes_.forward();
      result_.right += count_right(labels);
    }
  }

  const EpochResult& result() const { return result_; }
  NetworkWeights weights() { return passes_.weights(); }

 private:
  void keep_to_grid(bool in_halves) {
    for (const Layer* const layer : on_grid_) {
      const WeightGrid grid = grid_of(*layer, options_.grid_side);
      passes_.change_weights(layer->name, [&](std::span<float> weights) {
        std::vector<float> cells = cell_means(*layer, grid, weights);
        if (in_halves) std::ranges::transform(cells, cells.begin(), in_half_precision);
        std::ranges::copy(spread_cells(*layer, grid, cells), weights.begin());
      });
    }
  }

  /// Brings images to the network's input, 0..1. Fewer than a batch leave the rest of it as it is. Returns the labels.
  std::vector<std::uint8_t> load(const ImageRange& range, std::span<const int> indices) {
    const std::size_t elements = input_.elements();
    float* const inputs = passes_.inputs().data();
    std::vector<std::uint8_t> labels(indices.size());
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const int index = range.first + indices[i];
      float* const to = inputs + i * elements;
      fill_image_batch(*range.images, index, 1, input_.channels, input_.height, input_.width, to);
      for (std::size_t pixel = 0; pixel < elements; ++pixel) to[pixel] *= kPixelScale;
      labels[i] = range.images->labels[static_cast<std::size_t>(index)];
    }
    return labels;
  }

  /// How many of the first images of the batch have their largest output at their label.
  int count_right(std::span<const std::uint8_t> labels) const {
    const std::span<const float> probabilities = passes_.probabilities();
    const std::size_t classes = probabilities.size() / static_cast<std::size_t>(batch_);
    int right = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::span<const float> image = probabilities.subspan(i * classes, classes);
      if (std::ranges::max_element(image) - image.begin() == labels[i]) ++right;
    }
    return right;
  }

  /// Whether stop_at_accuracy is reached with a batch of which so many are right.
  bool good_enough(int right) {
    if (!options_.stop_at_accuracy) return false;
    recent_.push_back(right);
    if (recent_.size() * static_cast<std::size_t>(batch_) > kImagesJudged) recent_.pop_front();
    const double sum = std::accumulate(recent_.begin(), recent_.end(), 0.0);
    return sum >= *options_.stop_at_accuracy * static_cast<double>(recent_.size()) * batch_;
  }

  ActivationShape input_;
  const TrainingOptions& options_;
  int batch_;
  OnednnNetwork passes_;
  std::vector<const Layer*> on_grid_;
  std::deque<int> recent_;  ///< right ones of the last batches
  EpochResult result_;
};

}  // namespace

std::string training_unsupported(const Network& network) {
  for (std::size_t i = 0; i + 1 < network.layers.size(); ++i) {
    if (network.layers[i].type == LayerType::softmax) {
      return fmt::format("the softmax '{}' is not the last layer", network.layers[i].name);
    }
  }
  const ActivationShape& output = network.layers.back().output;
  if (output.height != 1 || output.width != 1) {
    return fmt::format("its output is {}x{}x{}, not a value for each class", output.channels, output.height,
                       output.width);
  }
  if (first_layer_with_weights(network) == network.layers.size()) return "no layer has weights";
  return {};
}

TrainedNetwork train(const Network& network, const ImageRange& training, const ImageRange& test,
                     const TrainingOptions& options, const TrainingListener& listener) {
  if (const std::string reason = training_unsupported(network); !reason.empty()) {
    throw TrainingError(fmt::format("{} cannot be trained: {}", network.name, reason));
  }
  check_labels(network, training);
  check_labels(network, test);
  const int batch = std::min(options.batch, training.count);
  const std::int64_t updates_in_all = std::int64_t{training.count / batch} * options.epochs;
  try {
    Trainer trainer(network, options, batch);
    bool goes_on = true;
    for (int epoch = 1; epoch <= options.epochs && goes_on; ++epoch) {
      goes_on = trainer.run_epoch(training, epoch, updates_in_all, listener);
      if (!goes_on || epoch == options.epochs) trainer.finish();
      trainer.evaluate(test);
      listener.epoch(trainer.result());
    }
    TrainedNetwork trained{.weights = trainer.weights(),
                           .last = trainer.result(),
                           .library = onednn_version(),
                           .threads = omp_get_max_threads()};
    scale_first_layer(network, trained.weights, kPixelScale);
    return trained;
  } catch (const dnnl::error& error) {
    throw TrainingError(fmt::format("{} cannot be trained: oneDNN: {}", network.name, error.what()));
  }
}

}  // namespace convladder
