#include "harness/measure/simulation/texture_argument.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "devices/device_error.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

using simulated::AddressMode;
using simulated::ChannelType;
using simulated::FilterMode;
using simulated::Geometry;

template <typename T>
using Table = std::initializer_list<std::pair<std::string_view, T>>;

const Table<Geometry> kGeometries = {{"1d", Geometry::one},
                                     {"2d", Geometry::two},
                                     {"3d", Geometry::three},
                                     {"1d-layers", Geometry::one_layered},
                                     {"2d-layers", Geometry::two_layered},
                                     {"cube", Geometry::cube},
                                     {"cube-layers", Geometry::cube_layered}};
const Table<FilterMode> kFilters = {{"point", FilterMode::point}, {"linear", FilterMode::linear}};
const Table<AddressMode> kAddressModes = {{"clamp", AddressMode::clamp},
                                          {"wrap", AddressMode::wrap},
                                          {"mirror", AddressMode::mirror},
                                          {"border", AddressMode::border}};
const Table<ChannelType> kChannelTypes = {
    {"u8", ChannelType::u8},   {"i8", ChannelType::s8},   {"u16", ChannelType::u16}, {"i16", ChannelType::s16},
    {"u32", ChannelType::u32}, {"i32", ChannelType::s32}, {"f16", ChannelType::f16}, {"f32", ChannelType::f32}};

template <typename T>
std::optional<T> value_of(const Table<T>& table, std::string_view word) {
  const auto* const found = std::ranges::find(table, word, &std::pair<std::string_view, T>::first);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

template <typename T>
void add_words(std::vector<std::string>& words, const Table<T>& table) {
  for (const auto& [word, value] : table) words.emplace_back(word);
}

/// Takes one word; returns whether it is known.
bool take_word(const std::string& word, TextureRequest& request) {
  simulated::TextureDescription& description = request.description;
  const auto geometry = value_of(kGeometries, word);
  if (geometry && !request.geometry) {
    const bool is_cube = *geometry == Geometry::cube || *geometry == Geometry::cube_layered;
    if (is_cube && request.is_surface) return false;
    request.geometry = geometry;
    return true;
  }
  if (request.is_surface) {
    const bool known = word == "in" || word == "inout" || word == "out";
    if (known) request.access = word;
    return known;
  }
  if (const auto filter = value_of(kFilters, word)) {
    description.sampler.filter = *filter;
  } else if (const auto mode = value_of(kAddressModes, word)) {
    description.sampler.address.fill(*mode);
  } else if (word == "normalized") {
    description.sampler.normalized_coordinates = true;
  } else if (word == "as-float") {
    description.read = simulated::ReadMode::normalized;
  } else if (word == "srgb") {
    description.srgb = true;
  } else if (word == "buffer" && !request.geometry) {
    request.geometry = Geometry::one;
    description.resource.is_linear = true;
  } else {
    return false;
  }
  return true;
}

std::vector<std::string> words_of(bool of_surface) {
  std::vector<std::string> words;
  if (of_surface) return {"1d", "2d", "3d", "1d-layers", "2d-layers", "in", "inout", "out"};
  add_words(words, kGeometries);
  add_words(words, kFilters);
  add_words(words, kAddressModes);
  for (const char* const word : {"buffer", "normalized", "as-float", "srgb"}) words.emplace_back(word);
  return words;
}

}  // namespace

std::optional<TextureRequest> parse_texture_words(const std::string& what, std::string_view words) {
  const std::vector<std::string> parts = split(std::string(words), ',');
  if (parts.empty() || (parts[0] != "texture" && parts[0] != "surface")) return std::nullopt;
  TextureRequest request;
  request.what = what;
  request.is_surface = parts[0] == "surface";
  request.access = request.is_surface ? "inout" : "in";
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (take_word(parts[i], request)) continue;
    throw UserError(fmt::format(
        "{}: {}", what,
        unknown_name_message(fmt::format("word of a {}", parts[0]), parts[i], words_of(request.is_surface))));
  }
  return request;
}

void set_texture_shape(const std::string& what, ElementType type, const std::vector<std::size_t>& shape,
                       TextureRequest& request) {
  const auto channel = value_of(kChannelTypes, element_name(type));
  if (!channel) throw UserError(fmt::format("{}: a texel has no elements {}", what, element_name(type)));
  if (!request.geometry && shape.size() > 2) {
    throw UserError(
        fmt::format("{}: {} sizes may mean several things; say 2d (the last are channels), 3d, 1d-layers "
                    "or 2d-layers",
                    what, shape.size()));
  }
  if (!request.geometry) request.geometry = shape.size() == 1 ? Geometry::one : Geometry::two;
  const Geometry geometry = *request.geometry;
  const auto axes = static_cast<std::size_t>(simulated::dimensions(geometry));
  const std::size_t sizes = axes + (simulated::is_layered(geometry) ? 1 : 0);
  const std::size_t channels = shape.size() == sizes + 1 ? shape.back() : 1;
  if ((shape.size() != sizes && shape.size() != sizes + 1) || (channels != 1 && channels != 2 && channels != 4)) {
    throw UserError(
        fmt::format("{}: the shape is {}, but this geometry has {} {}, and 2 or 4 channels behind them or "
                    "none",
                    what, fmt::join(shape, "x"), sizes, sizes == 1 ? "size" : "sizes"));
  }
  std::size_t next = 0;
  const std::size_t depth = sizes > axes || axes == 3 ? shape[next++] : 1;
  const std::size_t height = axes > 1 ? shape[next++] : 1;
  simulated::TexelResource& resource = request.description.resource;
  const bool is_linear = resource.is_linear;
  try {
    resource = simulated::array_resource(geometry, {*channel, static_cast<int>(channels)}, shape[next], height, depth);
  } catch (const DeviceError& error) {
    throw UserError(fmt::format("{}: {}", what, error.what()));
  }
  resource.is_linear = is_linear;
}

}  // namespace convladder
