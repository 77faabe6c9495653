#include "harness/measure/plan/run_material.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "datasets/catalogue.hpp"
#include "datasets/synthetic_images.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "network/weights_files.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

constexpr int kSyntheticImages = 10000;  // as many as the data sets' test files

/// How the network was named on the command line: one from a file is found by its path.
std::string argument_of(const NetworkOptions& options, const Network& network) {
  const auto names_it = [&network](const std::string& name) { return &find_network(name) == &network; };
  const auto found = std::ranges::find_if(options.networks, names_it);
  return found == options.networks.end() ? network.name : *found;
}

ChosenWeights random_weights(const NetworkOptions& options, const Network& network, const std::string& why) {
  ChosenWeights random{.weights = initial_weights(network, options.seed), .trained = false, .note = {}};
  random.note = fmt::format("{}: no accuracy, the weights are random: {}", network.name, why);
  return random;
}

ChosenWeights trained_weights(const Network& network, NetworkWeights weights, const std::string& dataset) {
  const WeightsOrigin& origin = weights.origin;
  // "60000 images of MNIST train, tested on 10000 of MNIST test", "accuracy 0.9844 (9844 of 10000, …)"
  constexpr std::string_view tested_on = ", tested on ";
  const std::size_t comma = origin.trained_on.find(tested_on);
  std::string note = fmt::format("{}: weights {}", network.name, origin.from);
  if (!origin.trained_on.empty()) note += fmt::format(", from {}", origin.trained_on.substr(0, comma));
  if (!origin.held_out.empty()) note += fmt::format("; {}", origin.held_out.substr(0, origin.held_out.find(" (")));
  if (!origin.held_out.empty() && comma != std::string::npos)
    note += fmt::format(" on {}", origin.trained_on.substr(comma + tested_on.size()));
  if (!origin.network.empty() && origin.network != network.name) {
    note += fmt::format("; they were trained for {}, and its accuracy says so", origin.network);
  }
  if (!origin.dataset.empty() && origin.dataset != dataset) {
    note += fmt::format("; this run's images are {}, not those, and its accuracy says so", dataset);
  }
  return {.weights = std::move(weights), .trained = true, .note = std::move(note)};
}

}  // namespace

ImageSet load_images(const std::string& data_folder, std::uint64_t seed, int most_needed) {
  if (!data_folder.empty()) return load_image_folder(data_folder);
  return synthetic_images(std::min(kSyntheticImages, most_needed), seed);
}

ImageSet network_images(const NetworkOptions& options, int most_needed) {
  ImageSet images = load_images(options.data_folder, options.seed, most_needed + options.skip_images);
  if (options.skip_images == 0) return images;
  if (options.skip_images >= images.count) {
    throw UserError(fmt::format("--skip-images {}: there are {} images", options.skip_images, images.count));
  }
  const std::size_t pixels = static_cast<std::size_t>(images.height) * images.width * options.skip_images;
  images.pixels.erase(images.pixels.begin(), images.pixels.begin() + static_cast<std::ptrdiff_t>(pixels));
  images.labels.erase(images.labels.begin(), images.labels.begin() + options.skip_images);
  images.count -= options.skip_images;
  return images;
}

ChosenWeights network_weights(const NetworkOptions& options, const Network& network, const ImageSet& images) {
  if (options.weights == "random") return random_weights(options, network, "as asked for");
  const std::string key = dataset_key(images);
  if (options.weights != "high" && options.weights != "low") {
    return trained_weights(network, load_weights(network, options.weights), key);
  }
  if (std::optional<NetworkWeights> found = find_weights(network, key, options.weights)) {
    return trained_weights(network, std::move(*found), key);
  }
  const std::string remedy =
      fmt::format("'convladder train --network {}{}{}' makes them", argument_of(options, network),
                  options.data_folder.empty() ? "" : fmt::format(" --data {}", options.data_folder),
                  options.weights == "low" ? " --quality low" : "");
  if (options.weights == "low") {
    throw UserError(fmt::format("there are no low weights of {} for {} images; {}", network.name, key, remedy));
  }
  const int outputs = static_cast<int>(network.layers.back().output.elements());
  const int classes = static_cast<int>(images.class_names.size());
  if (classes > 0 && outputs > classes) {
    return random_weights(options, network,
                          fmt::format("it has {} classes, and the labels are of {}", outputs, classes));
  }
  return random_weights(options, network, fmt::format("there are none trained on {} images; {}", key, remedy));
}

}  // namespace convladder
