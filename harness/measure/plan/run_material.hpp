// The data that runs work on: images and weights.
#pragma once

#include <cstdint>
#include <string>

#include "datasets/image_set.hpp"
#include "harness/measure/plan/options.hpp"
#include "network/weights.hpp"

namespace convladder {

/// The test images of a folder of IDX files, or synthetic images if no folder is named, as many as are needed and at
/// most as many as the known test sets have. Throws UserError.
ImageSet load_images(const std::string& data_folder, std::uint64_t seed, int most_needed);

/// As `load_images`, without the first images that the options leave out. Throws UserError if none is left.
ImageSet network_images(const NetworkOptions& options, int most_needed);

struct ChosenWeights {
  NetworkWeights weights;
  bool trained = false;  ///< whether an accuracy says anything
  std::string note;      ///< one line: the weights' training data and accuracy, or why there is no accuracy
};

/// The weights that `--weights` asks for: trained on that set of images, random, or from a file. Where none of quality
/// "high" is found, the weights are random and their note says so. Throws UserError.
ChosenWeights network_weights(const NetworkOptions& options, const Network& network, const ImageSet& images);

}  // namespace convladder
