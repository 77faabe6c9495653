// A network as data: its layers in order, with every shape inferred and checked.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "variants/layer_shapes.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

enum class LayerType { convolution, tanh, relu, max_pool, fully_connected, softmax };

struct Layer {
  std::string name;
  LayerType type = LayerType::convolution;
  ProblemSize size;  ///< of the problem that the layer is, with batch 1; a convolution's bias is a problem of its own
  ActivationShape input;
  ActivationShape output;
  bool bias = false;  ///< of a convolution or a fully connected layer
};

struct Network {
  std::string name;
  std::string title;
  ActivationShape input;
  std::vector<Layer> layers;
  std::vector<int> batches;  ///< the batch sizes of its published reports, or those its file asks for
  bool default_run = false;  ///< whether `run` takes its layers where no network is named
};

/// Reads a network from JSON (see network/networks/*.json). `file` is what messages call it. Throws UserError
/// that names the file, the layer and the field.
Network parse_network(std::string_view text, const std::string& file);

/// Reads a network from a user's file. Throws UserError.
Network load_network_file(const std::filesystem::path& path);

/// The networks this program was built with (network/networks/*.json), by name.
const std::vector<Network>& built_in_networks();

/// Elements of the largest activation of an image, its input among them.
std::size_t largest_activation(const Network& network);

/// The indices of the network's convolutions in `layers`.
std::vector<std::size_t> convolution_layers(const Network& network);

}  // namespace convladder
