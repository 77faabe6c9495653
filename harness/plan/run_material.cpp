#include "harness/plan/run_material.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "datasets/catalogue.hpp"
#include "datasets/synthetic_images.hpp"
#include "network/weights_files.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

constexpr int kSyntheticImages = 10000;  // as many as the data sets' test files

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
  if (options.weights == "random") return {initial_weights(network, options.seed), false};
  if (options.weights != "high" && options.weights != "low") return {load_weights(network, options.weights), true};
  const std::string key = dataset_key(images);
  if (std::optional<NetworkWeights> found = find_weights(network, key, options.weights)) {
    return {std::move(*found), true};
  }
  const std::string remedy =
      fmt::format("'convladder train --network {}{}{}' makes them", network.name,
                  options.data_folder.empty() ? "" : fmt::format(" --data {}", options.data_folder),
                  options.weights == "low" ? " --quality low" : "");
  if (options.weights == "low") {
    throw UserError(fmt::format("there are no low weights of {} for {} images; {}", network.name, key, remedy));
  }
  ChosenWeights random{initial_weights(network, options.seed), false};
  random.weights.name += fmt::format(" (there are no trained weights for {} images; {})", key, remedy);
  return random;
}

}  // namespace convladder
