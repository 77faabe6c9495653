#include "network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "support/embedded_file.hpp"
#include "support/shown_text.hpp"

namespace convladder {

const std::vector<EmbeddedFile>& embedded_networks();  // network/networks/*.json, by cmake/EmbedFiles.cmake

namespace {

using nlohmann::json;

constexpr int kLargestField = 1 << 20;
constexpr int kDeepestNesting = 8;                            // a network needs four
constexpr std::int64_t kMostWeights = std::int64_t{1} << 31;  // of a layer, as of a convolution
constexpr std::uintmax_t kLargestFile = 1 << 20;              // bytes; a file that is not a network could have any size

constexpr std::pair<std::string_view, LayerType> kLayerTypes[] = {{"convolution", LayerType::convolution},
                                                                  {"tanh", LayerType::tanh},
                                                                  {"relu", LayerType::relu},
                                                                  {"max_pool", LayerType::max_pool},
                                                                  {"softmax", LayerType::softmax},
                                                                  {"fully_connected", LayerType::fully_connected}};

std::string shown_value(const json& value) {
  constexpr std::size_t longest = 60;
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

/// Reads the fields of one JSON object, remembers which were asked for, and complains with file, place and field.
class Fields {
 public:
  Fields(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object_.is_object()) fail("expected an object {…}");
  }

  /// What the following messages say of the place as well.
  void add_place(const std::string& text) { place_ += " " + text; }

  [[noreturn]] void fail(const std::string& what) const { throw NetworkError(fmt::format("{}: {}", place_, what)); }

  std::string text(const char* field) {
    const json& value = required(field);
    if (!value.is_string() || value.get<std::string>().empty()) fail(fmt::format("'{}' must be a string", field));
    return value.get<std::string>();
  }
  int number(const char* field, int smallest, std::optional<int> fallback = std::nullopt) {
    if (fallback && !object_.contains(field)) return *fallback;
    const json& value = required(field);
    if (!value.is_number_integer() || value < smallest || value > kLargestField) {
      fail(fmt::format("'{}' must be a whole number from {} to {}, it is {}", field, smallest, kLargestField,
                       shown_value(value)));
    }
    return value.get<int>();
  }
  std::vector<int> numbers(const char* field, int smallest, std::vector<int> fallback) {
    used_.insert(field);
    if (!object_.contains(field)) return fallback;
    const json& list = required(field);
    const auto is_number = [smallest](const json& value) {
      return value.is_number_integer() && value >= smallest && value <= kLargestField;
    };
    if (!list.is_array() || list.empty() || !std::ranges::all_of(list, is_number)) {
      fail(fmt::format("'{}' must be a list of whole numbers from {} to {}", field, smallest, kLargestField));
    }
    return list.get<std::vector<int>>();
  }
  bool flag(const char* field) {
    used_.insert(field);
    if (!object_.contains(field)) return false;
    const json& value = required(field);
    if (!value.is_boolean()) fail(fmt::format("'{}' must be true or false", field));
    return value.get<bool>();
  }
  const json& required(const char* field) {
    used_.insert(field);
    if (!object_.contains(field)) fail(fmt::format("the field '{}' is missing", field));
    return object_.at(field);
  }
  /// Otherwise a misspelt field would silently mean the default.
  void refuse_others() const {
    for (const auto& [name, value] : object_.items()) {
      if (!used_.contains(name) && !is_known(name)) fail(fmt::format("unknown field '{}'", shown_text(name)));
    }
  }
  void know(std::initializer_list<const char*> optional) { used_.insert(optional.begin(), optional.end()); }

 private:
  bool is_known(const std::string& name) const { return name == "comment"; }
  const json& object_;
  std::string place_;
  std::set<std::string> used_;
};

LayerType layer_type(Fields& fields) {
  const std::string name = fields.text("type");
  std::string known;
  for (const auto& [type_name, type] : kLayerTypes) {
    if (type_name == name) return type;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", type_name);
  }
  fields.fail(fmt::format("unknown 'type' '{}'; known types: {}", shown_text(name), known));
}

void read_convolution(Fields& fields, Layer& layer) {
  fields.know({"stride", "padding", "groups"});
  layer.convolution = {.batch = 1,
                       .in_channels = layer.input.channels,
                       .height = layer.input.height,
                       .width = layer.input.width,
                       .out_channels = fields.number("out_channels", 1),
                       .kernel = fields.number("kernel", 1),
                       .stride = fields.number("stride", 1, 1),
                       .padding = fields.number("padding", 0, 0),
                       .groups = fields.number("groups", 1, 1)};
  layer.bias = fields.flag("bias");
  if (const std::string error = shape_error(layer.convolution); !error.empty()) fields.fail(error);
  layer.output = {layer.convolution.out_channels, layer.convolution.out_height(), layer.convolution.out_width()};
}

void read_max_pool(Fields& fields, Layer& layer) {
  layer.pool_size = fields.number("size", 1);
  layer.pool_stride = fields.number("stride", 1);
  const int smaller_side = std::min(layer.input.height, layer.input.width);
  if (layer.pool_size > smaller_side) {
    fields.fail(fmt::format("'size' {} is larger than its {}x{} input", layer.pool_size, layer.input.height,
                            layer.input.width));
  }
  layer.output = {layer.input.channels, (layer.input.height - layer.pool_size) / layer.pool_stride + 1,
                  (layer.input.width - layer.pool_size) / layer.pool_stride + 1};
}

void read_fully_connected(Fields& fields, Layer& layer) {
  layer.output = {fields.number("out_features", 1), 1, 1};
  layer.bias = fields.flag("bias");
  const std::size_t most_inputs = static_cast<std::size_t>(kMostWeights / layer.output.channels);
  if (layer.input.elements() > most_inputs) {
    fields.fail(fmt::format("'out_features' {} for {} inputs: more than 2^31 weights", layer.output.channels,
                            layer.input.elements()));
  }
}

Layer read_layer(const json& object, const std::string& place, ActivationShape input) {
  Fields fields(object, place);
  Layer layer;
  layer.name = fields.text("name");
  fields.add_place(fmt::format("'{}'", shown_text(layer.name)));
  layer.type = layer_type(fields);
  layer.input = input;
  layer.output = input;
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
  fields.refuse_others();
  return layer;
}

}  // namespace

Network parse_network(std::string_view text, const std::string& file) {
  json document;
  try {
    document = json::parse(text, [&file](int depth, json::parse_event_t /*event*/, json& /*value*/) {
      if (depth <= kDeepestNesting) return true;
      throw NetworkError(fmt::format("{}: lists or objects nested more than {} deep", file, kDeepestNesting));
    });
  } catch (const json::parse_error& error) {
    throw NetworkError(fmt::format("{}: byte {}: not valid JSON", file, error.byte));
  } catch (const json::out_of_range&) {
    throw NetworkError(fmt::format("{}: a number is too large for any field", file));
  }
  Fields fields(document, file);
  Network network;
  network.name = fields.text("name");
  network.title = fields.text("title");
  network.default_run = fields.flag("default_run");
  network.batches = fields.numbers("batches", 1, {100, 1000, 10000});
  Fields input(fields.required("input"), file + ": input");
  network.input = {input.number("channels", 1), input.number("height", 1), input.number("width", 1)};
  input.refuse_others();
  const json& layers = fields.required("layers");
  fields.refuse_others();
  if (!layers.is_array() || layers.empty()) fields.fail("'layers' must be a list with at least one layer");

  std::set<std::string> names;
  ActivationShape shape = network.input;
  for (const json& object : layers) {
    const std::string place = fmt::format("{}: layer {}", file, network.layers.size() + 1);
    network.layers.push_back(read_layer(object, place, shape));
    const Layer& layer = network.layers.back();
    if (!names.insert(layer.name).second) {
      throw NetworkError(fmt::format("{}: the name '{}' is taken by an earlier layer", place, shown_text(layer.name)));
    }
    shape = layer.output;
  }
  return network;
}

Network load_network_file(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) throw NetworkError(fmt::format("{}: {}", path.string(), error.message()));
  if (bytes > kLargestFile) {
    throw NetworkError(fmt::format("{}: {} bytes; a network file has at most {}", path.string(), bytes, kLargestFile));
  }
  std::ifstream stream(path, std::ios::binary);
  std::string text(bytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (!stream.is_open() || stream.bad()) throw NetworkError(fmt::format("{}: cannot be read", path.string()));
  return parse_network(text, path.string());
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

std::vector<std::size_t> convolution_layers(const Network& network) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (network.layers[i].type == LayerType::convolution) indices.push_back(i);
  }
  return indices;
}

}  // namespace convladder
