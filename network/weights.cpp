#include "network/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "network/safetensors.hpp"
#include "network/safetensors_header.hpp"
#include "network/weight_grid.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/seeded_random.hpp"
#include "support/sha256.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

/// Uniform in +-sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010), times `scale`.
std::vector<float> glorot_uniform(std::size_t count, double fan_in_and_out, float scale, std::uint64_t seed) {
  const double limit = std::sqrt(6.0 / fan_in_and_out);
  SeededRandom random(seed, 0);
  std::vector<float> weights(count);
  for (float& weight : weights) {
    const double uniform = static_cast<double>(random.next() >> 11) * 0x1p-53;  // [0, 1), 53 random bits
    weight = static_cast<float>((2.0 * uniform - 1.0) * limit) * scale;
  }
  return weights;
}

std::vector<std::int64_t> bias_shape(const Layer& layer) { return {layer.output.channels}; }

std::int64_t elements(std::span<const std::int64_t> shape) {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) product *= size;
  return product;
}

/// The tensors of a file, taken one by one under the names that a network expects.
class TensorTaker {
 public:
  TensorTaker(std::vector<Tensor> tensors, const std::string& file) : file_(file) {
    for (Tensor& tensor : tensors) tensors_.emplace(tensor.name, std::move(tensor));
  }

  std::vector<float> take(const std::string& name, std::span<const std::int64_t> shape) {
    expected_.push_back(name);
    const auto at = tensors_.find(name);
    if (at == tensors_.end()) {
      throw UserError(fmt::format("{}: {}: expected shape {}, but it is missing; the file has: {}", file_,
                                  tensor_text(name), shape_text(shape), names()));
    }
    Tensor tensor = std::move(tensors_.extract(at).mapped());
    if (!std::ranges::equal(tensor.shape, shape)) {
      throw UserError(fmt::format("{}: {}: expected shape {}, found {}", file_, tensor_text(name), shape_text(shape),
                                  shape_text(tensor.shape)));
    }
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      if (!std::isfinite(tensor.values[i])) {
        throw UserError(fmt::format("{}: {}: element {}: expected a finite number, found {}", file_, tensor_text(name),
                                    i, tensor.values[i]));
      }
    }
    return std::move(tensor.values);
  }

  /// Takes a fully connected layer's weights: one value for each input, or for each cell of a grid over the input's
  /// maps.
  std::vector<float> take_fully_connected(const std::string& name, const Layer& layer) {
    const ActivationShape& input = layer.input;
    const auto at = tensors_.find(name);
    if (at == tensors_.end() || at->second.shape.size() != 4) return take(name, weight_shape(layer));
    const std::vector<std::int64_t>& shape = at->second.shape;
    if (shape[2] < 1 || shape[2] > input.height || shape[3] < 1 || shape[3] > input.width) {
      throw UserError(fmt::format("{}: {}: expected shape {}, or [{}, {}, up to {}, up to {}] for a grid, found {}",
                                  file_, tensor_text(name), shape_text(weight_shape(layer)), layer.output.channels,
                                  input.channels, input.height, input.width, shape_text(shape)));
    }
    const WeightGrid grid{.height = static_cast<int>(shape[2]), .width = static_cast<int>(shape[3])};
    return spread_cells(layer, grid, take(name, grid_shape(layer, grid)));
  }

  void refuse_others(const Network& network) const {
    if (tensors_.empty()) return;
    throw UserError(fmt::format("{}: {} is not in {}; expected: {}", file_, tensor_text(tensors_.begin()->first),
                                network.name, joined(expected_)));
  }

 private:
  static std::string joined(const std::vector<std::string>& names) {
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + in_quotes(names[i]);
    return names.size() > most ? text + ", ..." : text;
  }
  std::string names() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors_) names.push_back(name);
    return names.empty() ? "no others" : joined(names);
  }

  const std::string& file_;
  std::map<std::string, Tensor> tensors_;
  std::vector<std::string> expected_;
};

/// The metadata that holds values_sha256: nothing else in a safetensors file tells what its values should be.
constexpr const char* kChecksum = "values_sha256";

std::span<const std::uint8_t> bytes_of(const std::string& content) {
  return {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()};
}

/// The checksum of the tensors' values in a whole safetensors file that can be parsed.
std::string values_sha256(std::span<const std::uint8_t> file) {
  std::uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof header);
  return sha256_hex(file.subspan(sizeof header + header));
}

/// Whether the text is short and has only letters, digits and '-', '_' and '.'; anything else is not shown as a name.
bool is_plain_word(const std::string& text) {
  constexpr std::size_t longest = 40;
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, plain);
}

/// "lenet86 mnist high" if the file's metadata say so, otherwise its name.
std::string name_of(const std::map<std::string, std::string>& metadata, const std::string& file) {
  std::string name;
  for (const char* part : {"network", "dataset", "quality"}) {
    const auto at = metadata.find(part);
    if (at == metadata.end() || !is_plain_word(at->second)) return std::filesystem::path(file).filename().string();
    name += (name.empty() ? "" : " ") + at->second;
  }
  return name;
}

/// One text of a file's metadata, for people to read; empty if it is missing or too long.
std::string said(const std::map<std::string, std::string>& metadata, const char* what) {
  constexpr std::size_t longest = 200;
  const auto at = metadata.find(what);
  return at == metadata.end() || at->second.size() > longest ? "" : printable(at->second);
}

}  // namespace

std::vector<float> initial_convolution_weights(const ProblemSize& size, float scale, std::uint64_t seed) {
  const double taps = static_cast<double>(size.at("kernel")) * size.at("kernel");
  const int groups = size.at("groups");
  const int channels_and_maps = size.at("in_channels") / groups + size.at("out_channels") / groups;
  return glorot_uniform(static_cast<std::size_t>(size.problem->constants(size).front().elements),
                        taps * channels_and_maps, scale, seed);
}

std::vector<float> initial_convolution_weights(const Network& network, std::size_t layer_index, std::uint64_t seed) {
  const bool first = layer_index == first_layer_with_weights(network);
  return initial_convolution_weights(network.layers[layer_index].size, first ? kPixelScale : 1.0F, seed + layer_index);
}

bool has_weights(const Layer& layer) {
  return layer.type == LayerType::convolution || layer.type == LayerType::fully_connected;
}

std::size_t first_layer_with_weights(const Network& network) {
  return static_cast<std::size_t>(std::ranges::find_if(network.layers, has_weights) - network.layers.begin());
}

std::vector<std::int64_t> weight_shape(const Layer& layer) {
  const std::int64_t outputs = layer.output.channels;
  if (layer.type != LayerType::convolution) return {outputs, static_cast<std::int64_t>(layer.input.elements())};
  const int kernel = layer.size.at("kernel");
  return {outputs, layer.input.channels / layer.size.at("groups"), kernel, kernel};
}

LayerWeights initial_layer_weights(const Network& network, std::size_t layer_index, std::uint64_t seed) {
  const Layer& layer = network.layers[layer_index];
  LayerWeights weights;
  if (layer.type == LayerType::convolution) {
    weights.weights = initial_convolution_weights(network, layer_index, seed);
  } else {
    const std::size_t inputs = layer.input.elements();
    const std::size_t outputs = layer.output.elements();
    const bool first = layer_index == first_layer_with_weights(network);
    weights.weights = glorot_uniform(inputs * outputs, static_cast<double>(inputs) + static_cast<double>(outputs),
                                     first ? kPixelScale : 1.0F, seed + layer_index);
  }
  if (layer.bias) weights.bias.assign(static_cast<std::size_t>(layer.output.channels), 0.0F);
  return weights;
}

NetworkWeights initial_weights(const Network& network, std::uint64_t seed) {
  NetworkWeights result{.name = fmt::format("random, seed {}", seed), .layers = {}, .sha256 = {}};
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    if (has_weights(layer)) result.layers[layer.name] = initial_layer_weights(network, i, seed);
  }
  return result;
}

NetworkWeights parse_weights(const Network& network, std::span<const std::uint8_t> bytes, const std::string& file) {
  TensorFile content = parse_safetensors(bytes, file);
  if (const auto checksum = content.metadata.find(kChecksum);
      checksum != content.metadata.end() && checksum->second != values_sha256(bytes)) {
    throw UserError(fmt::format("{}: its values are not those that were written into it", file));
  }
  NetworkWeights result{.name = name_of(content.metadata, file),
                        .layers = {},
                        .sha256 = sha256_hex(bytes),
                        .origin = {.network = said(content.metadata, "network"),
                                   .dataset = said(content.metadata, "dataset"),
                                   .trained_on = said(content.metadata, "images"),
                                   .held_out = said(content.metadata, "result"),
                                   .from = "from a file"}};
  TensorTaker tensors(std::move(content.tensors), file);
  for (const Layer& layer : network.layers) {
    if (!has_weights(layer)) continue;
    LayerWeights& weights = result.layers[layer.name];
    const std::string name = layer.name + ".weight";
    weights.weights = layer.type == LayerType::fully_connected ? tensors.take_fully_connected(name, layer)
                                                               : tensors.take(name, weight_shape(layer));
    if (layer.bias) weights.bias = tensors.take(layer.name + ".bias", bias_shape(layer));
  }
  tensors.refuse_others(network);
  return result;
}

std::string weights_file_content(const Network& network, const NetworkWeights& weights,
                                 const std::map<std::string, std::string>& metadata, int grid_side) {
  std::vector<Tensor> tensors;
  const auto add = [&tensors](std::string name, std::vector<std::int64_t> shape, const std::vector<float>& values,
                              bool half = false) {
    if (elements(shape) != static_cast<std::int64_t>(values.size())) {
      throw std::logic_error(fmt::format("{} has {} values for shape {}", name, values.size(), shape_text(shape)));
    }
    tensors.push_back({std::move(name), std::move(shape), values, half});
  };
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    if (!has_weights(layer)) continue;
    const LayerWeights& of_layer = weights.layers.at(layer.name);
    if (grid_side > 0 && is_on_grid(network, i, grid_side)) {
      const WeightGrid grid = grid_of(layer, grid_side);
      add(layer.name + ".weight", grid_shape(layer, grid), cell_means(layer, grid, of_layer.weights), true);
    } else {
      add(layer.name + ".weight", weight_shape(layer), of_layer.weights);
    }
    if (layer.bias) add(layer.name + ".bias", bias_shape(layer), of_layer.bias);
  }
  if (metadata.empty()) return safetensors_content(std::move(tensors), metadata);
  std::map<std::string, std::string> with_checksum = metadata;
  with_checksum[kChecksum] = values_sha256(bytes_of(safetensors_content(tensors, {})));
  return safetensors_content(std::move(tensors), with_checksum);
}

}  // namespace convladder
