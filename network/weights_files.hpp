// Where trained weights are found: the user's cache, then those built into the program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "datasets/image_set.hpp"
#include "network/weights.hpp"

namespace convladder {

/// "synthetic", "mnist", "fashion-mnist" or, for images the catalogue does not know, "own": what weights were trained
/// on, as the names of their files have it.
std::string dataset_key(const ImageSet& images);

/// $XDG_CACHE_HOME/convladder/weights, or ~/.cache/convladder/weights. Empty if neither variable is an absolute
/// path.
std::filesystem::path weights_cache_folder();

/// "lenet28-mnist-high.safetensors". `quality` is "high" or "low". What a file's name should not hold becomes "_".
std::string weights_file_name(const Network& network, const std::string& dataset, const std::string& quality);

/// Loads a weights file of the user's. Throws UserError, one line, where it cannot be read or is not for this network.
NetworkWeights load_weights(const Network& network, const std::filesystem::path& file);

/// The weights trained for a network, by dataset_key and quality: the cache's, or those built into the program
/// (network/weights/*.safetensors), or none. Throws UserError where the cache's are there but cannot be used.
std::optional<NetworkWeights> find_weights(const Network& network, const std::string& dataset,
                                           const std::string& quality);

}  // namespace convladder
