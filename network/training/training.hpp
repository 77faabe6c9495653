// Training a network: SGD with momentum on the softmax's cross entropy, deterministic by seed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "datasets/image_set.hpp"
#include "network/network.hpp"
#include "network/weights.hpp"

namespace convladder {

/// Training that cannot begin or cannot go on. One line.
struct TrainingError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Some images of a set, in its order.
struct ImageRange {
  const ImageSet* images = nullptr;
  int first = 0;
  int count = 0;
};

/// The learning rate falls linearly from `learning_rate` at the first update to zero after the last.
struct TrainingOptions {
  std::uint64_t seed = 1;  ///< for the starting weights and the images' order
  int epochs = 1;          ///< passes over the training images, each in an order of its own
  int batch = 64;          ///< images per update; at most the training images. The remainder of an epoch is left out
  double learning_rate = 0.02;
  double momentum = 0.9;
  /// Keeps the weights of fully connected layers on a grid of so many cells each way (weight_grid.hpp): after each
  /// update every place gets the mean of its cell. In the end the cells are rounded to half precision. 0: no grid.
  int grid_side = 0;
  /// Stops after the first update at which this share of the last 512 training images was classified right before their
  /// updates.
  std::optional<double> stop_at_accuracy = std::nullopt;
};

/// The result of an epoch, or of the part of it that was run.
struct EpochResult {
  int epoch = 0;             ///< from 1
  std::int64_t updates = 0;  ///< since the beginning
  double loss = 0;           ///< mean cross entropy over the epoch's images, each before its update
  int tested = 0;            ///< test images
  int right = 0;             ///< the test images whose largest output is their label's
};

struct TrainingListener {
  std::function<void(std::int64_t updates, std::int64_t updates_in_all)> update;
  std::function<void(const EpochResult&)> epoch;
};

struct TrainedNetwork {
  NetworkWeights weights;  ///< for raw pixels, 0..255. Without name and checksum
  EpochResult last;
  std::string library;  ///< oneDNN's version, "2.6.3"
  int threads = 0;
};

/// Empty if the network can be trained with this program, otherwise why not.
std::string training_unsupported(const Network& network);

/// Starts from initial_weights(network, options.seed). The same network, images, options, library, processor and number
/// of threads give the same weights to the last bit. Throws TrainingError: a network that cannot be trained, a label
/// beyond the network's outputs, a loss that is not finite.
TrainedNetwork train(const Network& network, const ImageRange& training, const ImageRange& test,
                     const TrainingOptions& options, const TrainingListener& listener);

}  // namespace convladder
