#include "network/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "variants/problem.hpp"

namespace convladder {

const std::vector<EmbeddedFile>& embedded_networks();  // network/networks/*.json, by cmake/EmbedFiles.cmake

namespace {

constexpr int kLargestField = 1 << 20;
constexpr std::int64_t kMostWeights = std::int64_t{1} << 31;  // of one layer, the limit of a convolution too
constexpr std::uintmax_t kLargestFile = 1 << 20;              // bytes; a file that is not a network could have any size

struct KnownType {
  std::string_view name;
  LayerType type;
  std::string_view problem;
};

constexpr KnownType kLayerTypes[] = {{"convolution", LayerType::convolution, "convolution"},
                                     {"tanh", LayerType::tanh, "tanh"},
                                     {"relu", LayerType::relu, "relu"},
                                     {"max_pool", LayerType::max_pool, "max-pooling"},
                                     {"softmax", LayerType::softmax, "softmax"},
                                     {"fully_connected", LayerType::fully_connected, "fully-connected"}};

/// A field's whole number, from `smallest` to the most that a field may hold.
int number(const JsonPlace& place, int smallest, std::optional<int> otherwise = std::nullopt) {
  return otherwise && !place.is_there() ? *otherwise : place.whole(smallest, kLargestField);
}

bool flag(const JsonPlace& place) { return place.is_there() && place.truth(); }

/// Refuses unknown fields of a layer, or of the network; "comment" is always allowed.
void refuse_others(const JsonPlace& fields) {
  static_cast<void>(fields.at("comment"));
  fields.refuse_others();
}

const KnownType& known_type(const JsonPlace& place) {
  const std::string name = place.text();
  std::string known;
  for (const KnownType& one : kLayerTypes) {
    if (one.name == name) return one;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
  }
  place.expected(fmt::format("one of {}", known));
}

void read_convolution(const JsonPlace& fields, Layer& layer) {
  for (const char* const name : {"out_channels", "kernel"}) layer.size.values.push_back(number(fields.at(name), 1));
  layer.size.values.push_back(number(fields.at("stride"), 1, 1));
  layer.size.values.push_back(number(fields.at("padding"), 0, 0));
  layer.size.values.push_back(number(fields.at("groups"), 1, 1));
  layer.bias = flag(fields.at("bias"));
  if (const std::string error = size_error(layer.size); !error.empty()) fields.fail(error);
}

void read_max_pool(const JsonPlace& fields, Layer& layer) {
  const int size = number(fields.at("size"), 1);
  layer.size.values.insert(layer.size.values.end(), {size, number(fields.at("stride"), 1)});
  if (size > std::min(layer.input.height, layer.input.width)) {
    fields.fail(fmt::format("'size' {} is larger than its {}x{} input", size, layer.input.height, layer.input.width));
  }
}

void read_fully_connected(const JsonPlace& fields, Layer& layer) {
  const int outputs = number(fields.at("out_features"), 1);
  layer.bias = flag(fields.at("bias"));
  layer.size.values.insert(layer.size.values.end(), {outputs, layer.bias ? 1 : 0});
  if (layer.input.elements() > static_cast<std::size_t>(kMostWeights / outputs)) {
    fields.fail(
        fmt::format("'out_features' {} for {} inputs: more than 2^31 weights", outputs, layer.input.elements()));
  }
}

Layer read_layer(const nlohmann::ordered_json& object, const std::string& place, ActivationShape input) {
  Layer layer;
  layer.name = JsonPlace(object, place).at("name").some_text();
  const JsonPlace fields(object, fmt::format("{} '{}'", place, printable(layer.name, kShortText)));
  static_cast<void>(fields.at("name"));
  const KnownType& known = known_type(fields.at("type"));
  layer.type = known.type;
  layer.size = {&built_in_problem(known.problem), 1, {input.channels, input.height, input.width}};
  layer.input = input;
  switch (layer.type) {
    case LayerType::convolution:
      read_convolution(fields, layer);
      break;
    case LayerType::max_pool:
      read_max_pool(fields, layer);
      break;
    case LayerType::fully_connected:
      read_fully_connected(fields, layer);
      break;
    case LayerType::tanh:
    case LayerType::relu:
    case LayerType::softmax:
      break;
  }
  refuse_others(fields);
  layer.output = layer.size.problem->output_image(layer.size);
  return layer;
}

void refuse_without_fields(const JsonPlace& file) {
  std::vector<std::string_view> missing;
  for (const char* const name : {"name", "title", "input", "layers"}) {
    if (!file.at(name).is_there()) missing.emplace_back(name);
  }
  if (!missing.empty()) file.fail(fmt::format("not a network file: it has no {}", fmt::join(missing, ", ")));
}

/// Refuses a record of this program by its first bytes: it may be much larger than a network.
void refuse_record(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return;
  std::string begin(64, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(stream.gcount()));
  constexpr std::string_view key = "\"kind\": \"";
  const std::size_t at = begin.find(key);
  if (!begin.starts_with("{\n \"schema_version\": ") || at == std::string::npos) return;
  const std::string kind = begin.substr(at + key.size(), begin.find('"', at + key.size()) - at - key.size());
  throw UserError(
      fmt::format("{}: a record ({}), not a network or a problem; {} it", file.string(), printable(kind),
                  kind == "run" ? "'convladder report', 'compare' and 'explain' take" : "'convladder report' takes"));
}

}  // namespace

Network parse_network(std::string_view text, const std::string& file) {
  const nlohmann::ordered_json json = parse_json(text, file, "a network");
  const JsonPlace fields(json, file);
  refuse_without_fields(fields);
  Network network;
  network.name = fields.at("name").some_text();
  network.title = fields.at("title").some_text();
  network.default_run = flag(fields.at("default_run"));
  network.batches = {100, 1000, 10000};
  if (fields.at("batches").is_there()) network.batches = fields.at("batches").wholes(1, kLargestField);
  if (network.batches.empty()) fields.at("batches").expected("at least one");
  const JsonPlace input = fields.at("input");
  network.input = {number(input.at("channels"), 1), number(input.at("height"), 1), number(input.at("width"), 1)};
  refuse_others(input);
  const std::vector<JsonPlace> layers = fields.at("layers").list();
  refuse_others(fields);
  if (layers.empty()) fields.at("layers").expected("at least one layer");

  std::set<std::string> names;
  ActivationShape shape = network.input;
  for (const JsonPlace& layer : layers) {
    const std::string place = fmt::format("{}: layer {}", file, network.layers.size() + 1);
    network.layers.push_back(read_layer(layer.json(), place, shape));
    const Layer& read = network.layers.back();
    const bool has_bias_step = read.type == LayerType::convolution && read.bias;  // its name is taken as well
    if (!names.insert(read.name).second || (has_bias_step && !names.insert(read.name + " bias").second)) {
      JsonPlace(layer.json(), place).at("name").expected("another name than an earlier layer's");
    }
    shape = network.layers.back().output;
  }
  return network;
}

Network load_network_file(const std::filesystem::path& path) {
  refuse_record(path);
  return parse_network(read_file_text(path.string(), kLargestFile), path.string());
}

const std::vector<Network>& built_in_networks() {
  static const std::vector<Network> networks = [] {
    std::vector<Network> parsed;
    for (const EmbeddedFile& file : embedded_networks()) parsed.push_back(parse_network(file.content, file.name));
    std::ranges::sort(parsed, {}, &Network::name);
    return parsed;
  }();
  return networks;
}

std::size_t largest_activation(const Network& network) {
  std::size_t largest = network.input.elements();
  for (const Layer& layer : network.layers) largest = std::max(largest, layer.output.elements());
  return largest;
}

std::vector<std::size_t> convolution_layers(const Network& network) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (network.layers[i].type == LayerType::convolution) indices.push_back(i);
  }
  return indices;
}

}  // namespace convladder
