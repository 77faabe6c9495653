// Queries of textures, surfaces and samplers (PTX ISA 9.0, 9.7.10.3 and 4, 9.7.11.5): txq, suq, istypep.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "simulator/instructions/textures/texture_handles.hpp"

namespace convladder::simulated {
namespace {

enum class Query : std::uint8_t {
  width,
  height,
  depth,
  array_size,
  channel_data_type,
  channel_order,
  normalized_coords,
  mipmap_levels,
  samples,
  memory_layout,
  force_unnormalized,
  filter_mode,
  address_mode_0,
  address_mode_1,
  address_mode_2,
};

struct QueryName {
  std::string_view name;
  Query query;
  bool of_texture;
  bool of_surface;
};
constexpr QueryName kQueries[] = {
    {"width", Query::width, true, true},
    {"height", Query::height, true, true},
    {"depth", Query::depth, true, true},
    {"array_size", Query::array_size, true, true},
    {"channel_data_type", Query::channel_data_type, true, true},
    {"channel_order", Query::channel_order, true, true},
    {"normalized_coords", Query::normalized_coords, true, false},
    {"num_mipmap_levels", Query::mipmap_levels, true, false},
    {"num_samples", Query::samples, true, false},
    {"memory_layout", Query::memory_layout, false, true},
    {"force_unnormalized_coords", Query::force_unnormalized, true, false},
    {"filter_mode", Query::filter_mode, true, false},
    {"addr_mode_0", Query::address_mode_0, true, false},
    {"addr_mode_1", Query::address_mode_1, true, false},
    {"addr_mode_2", Query::address_mode_2, true, false},
};

/// The channel data type by OpenCL's numbers, which the PTX ISA (5.3.2) refers to.
std::uint32_t channel_data_type(const TextureDescription& texture) {
  const bool normalized = texture.read == ReadMode::normalized;
  switch (texture.resource.format.type) {
    case ChannelType::s8:
      return normalized ? 0x10d0 : 0x10d7;
    case ChannelType::s16:
      return normalized ? 0x10d1 : 0x10d8;
    case ChannelType::u8:
      return normalized ? 0x10d2 : 0x10da;
    case ChannelType::u16:
      return normalized ? 0x10d3 : 0x10db;
    case ChannelType::s32:
      return 0x10d9;
    case ChannelType::u32:
      return 0x10dc;
    case ChannelType::f16:
      return 0x10dd;
    default:
      return 0x10de;
  }
}

std::uint32_t channel_order(int channels) { return channels == 1 ? 0x10b0 : channels == 2 ? 0x10b2 : 0x10b5; }

/// The number of an address mode in the order of the ISA: wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border.
std::uint32_t address_mode_number(AddressMode mode) {
  constexpr std::array<std::uint32_t, 4> numbers{0, 1, 3, 4};
  return numbers[static_cast<std::size_t>(mode)];
}

std::uint32_t answer_of_sampler(const SamplerDescription& sampler, Query query) {
  switch (query) {
    case Query::force_unnormalized:
      return sampler.normalized_coordinates ? 0 : 1;
    case Query::filter_mode:
      return sampler.filter == FilterMode::linear ? 1 : 0;
    case Query::address_mode_0:
      return address_mode_number(sampler.address[0]);
    case Query::address_mode_1:
      return address_mode_number(sampler.address[1]);
    default:
      return address_mode_number(sampler.address[2]);
  }
}

std::uint64_t answer(const TextureDescription& texture, Query query) {
  const TexelResource& resource = texture.resource;
  const bool layered = is_layered(resource.geometry);
  const bool is_cube = resource.geometry == Geometry::cube || resource.geometry == Geometry::cube_layered;
  switch (query) {
    case Query::width:
      return resource.width;
    case Query::height:
      return dimensions(resource.geometry) > 1 ? resource.height : 0;
    case Query::depth:
      return resource.geometry == Geometry::three ? resource.depth : 0;
    case Query::array_size:
      return layered ? resource.depth / (is_cube ? 6 : 1) : 0;
    case Query::channel_data_type:
      return channel_data_type(texture);
    case Query::channel_order:
      return channel_order(resource.format.channels);
    case Query::normalized_coords:
      return texture.sampler.normalized_coordinates ? 1 : 0;
    case Query::memory_layout:
      return 0;  // linear: rows behind rows
    case Query::mipmap_levels:
    case Query::samples:
      return 1;
    default:
      return answer_of_sampler(texture.sampler, query);
  }
}

bool is_of_sampler(Query query) { return query >= Query::force_unnormalized; }

/// `detail`: the query; `vector_elements`: 2 for surfaces.
void ask(WarpState& warp, const Operation& operation) {
  const bool of_surface = operation.vector_elements == 2;
  const auto query = static_cast<Query>(operation.detail);
  std::array<std::uint32_t, kLanes> answers{};
  for_each_handle(warp, operation.operands[1], operation.operands[1], [&](LaneMask lanes, int first) {
    const std::uint64_t handle = handle_value(warp, warp.read<std::uint64_t>(operation.operands[1])[first]);
    const TextureTable* const textures = warp.block->textures;
    const SamplerDescription* const sampler = textures == nullptr ? nullptr : textures->find_sampler(handle);
    std::uint64_t value = 0;
    if (is_of_sampler(query) && sampler != nullptr) {
      value = answer_of_sampler(*sampler, query);
    } else if (const auto* const object = find_object(warp, operation, lanes, handle, of_surface, std::nullopt)) {
      value = answer(object->description, query);
    }
    for_each_lane(lanes, [&](int lane) { answers[lane] = static_cast<std::uint32_t>(value); });
  });
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask, [&](int lane) { return answers[lane]; });
}

constexpr std::string_view kOpaqueTypes[] = {"texref", "samplerref", "surfref"};

/// `detail`: the type to compare with.
void is_type(WarpState& warp, const Operation& operation) {
  const auto* const handles = warp.read<std::uint64_t>(operation.operands[1]);
  const TextureTable* const textures = warp.block->textures;
  LaneMask is = 0;
  for_each_lane(warp.mask, [&](int lane) {
    const std::string_view type = kOpaqueTypes[operation.detail];
    const bool found = textures != nullptr && textures->is_of_type(handle_value(warp, handles[lane]), type);
    is |= LaneMask{found} << lane;
  });
  write_predicate(warp.write<LaneMask>(operation.operands[0]), warp.mask, is);
}

bool decode_type_query(InstructionDecoder& decoder, const std::vector<std::string_view>& words) {
  const auto* const type = words.size() == 2 ? std::ranges::find(kOpaqueTypes, words[1]) : std::end(kOpaqueTypes);
  if (type == std::end(kOpaqueTypes)) return false;
  decoder.expect_operands(2);
  const auto& operands = decoder.instruction().operands;
  Operation operation;
  operation.operands[1] = decode_handle(decoder, operands[1]);
  operation.operands[0] = decoder.write(operands[0], 1);
  operation.detail = static_cast<int>(type - std::begin(kOpaqueTypes));
  operation.handler = is_type;
  decoder.emit(operation);
  return true;
}

}  // namespace

bool decode_texture_query(InstructionDecoder& decoder) {
  const std::vector<std::string_view> words = ptx::split_opcode(decoder.instruction().opcode);
  if (words[0] == "istypep") return decode_type_query(decoder, words);
  const bool of_surface = words[0] == "suq";
  if (!of_surface && words[0] != "txq") return false;
  const bool has_level = words.size() == 4 && words[1] == "level" && !of_surface;
  if ((words.size() != 3 && !has_level) || words.back() != "b32") return false;
  const auto* const query = std::ranges::find(kQueries, words[words.size() - 2], &QueryName::name);
  if (query == std::end(kQueries) || !(of_surface ? query->of_surface : query->of_texture)) return false;
  decoder.expect_operands(has_level ? 3 : 2);
  const auto& operands = decoder.instruction().operands;
  if (has_level) static_cast<void>(decoder.read(operands[2], 32));  // there is one level
  Operation operation;
  operation.operands[1] = decode_handle(decoder, operands[1]);
  operation.operands[0] = decoder.write_narrow(operands[0], 32);
  operation.detail = static_cast<int>(query->query);
  operation.vector_elements = of_surface ? 2 : 1;
  operation.handler = ask;
  decoder.emit(operation);
  decoder.finish_writes();
  return true;
}

}  // namespace convladder::simulated
