// tex and tld4 (PTX ISA 9.0, 9.7.10.1 and 9.7.10.2). Textures have one mip level: .level and .grad read it, whatever
// their operands say.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "simulator/instructions/textures/texture_handles.hpp"
#include "simulator/instructions/textures/texture_opcode.hpp"
#include "simulator/state/lane_access.hpp"
#include "support/half.hpp"

namespace convladder::simulated {
namespace {

constexpr std::size_t kMostTexels = 8;  // per lane: two along each of three axes

/// The texels that the lanes of a warp read: texel k of each lane, as many as its samples have.
struct LaneTexels {
  std::array<Addresses, kMostTexels> address;
  std::array<std::array<double, kLanes>, kMostTexels> weight;
  std::array<LaneMask, kMostTexels> read{};    ///< lanes whose texel k is read
  std::array<LaneMask, kMostTexels> border{};  ///< lanes whose texel k is the border's colour
};

/// The results as registers hold them, before conversion to halves.
using Results = std::array<std::array<std::uint32_t, kLanes>, 4>;

/// The slots of one operation, which follow one another in the operand lists.
struct FetchSlots {
  FetchSlots(const WarpState& warp, const Operation& operation, const FetchOpcode& opcode)
      : results(warp.block->program->operand_lists.data() + operation.list),
        coordinates(results + (opcode.result == TexelResult::half_pair ? 2 : 4)),
        offsets(coordinates + (is_layered(opcode.geometry) && opcode.geometry != Geometry::cube ? 1 : 0) +
                (opcode.geometry == Geometry::cube || opcode.geometry == Geometry::cube_layered
                     ? 3
                     : dimensions(opcode.geometry))) {}
  const Slot* results;
  const Slot* coordinates;  ///< the layer comes first, if there are layers
  const Slot* offsets;
};

class Fetch {
 public:
  Fetch(const WarpState& warp, const Operation& operation)
      : warp_(warp),
        operation_(operation),
        opcode_(std::bit_cast<FetchOpcode>(operation.offset)),
        slots_(warp, operation, opcode_) {}

  const FetchOpcode& opcode() const { return opcode_; }
  const FetchSlots& slots() const { return slots_; }
  const Results& results() const { return results_; }

  /// Reads for lanes with the same texture and sampler.
  void read(LaneMask lanes, const TextureDescription& texture, const SamplerDescription& sampler) {
    texture_ = &texture;
    sampler_ = &sampler;
    LaneTexels texels;
    for_each_lane(lanes, [&](int lane) { find_texels(lane, texels); });
    const auto bytes = static_cast<int>(texture.resource.format.bytes());
    std::array<std::array<double, kLanes>, 4> sums{};
    for (std::size_t k = 0; k < kMostTexels; ++k) {
      const LanePlaces places =
          reach_texels(warp_, operation_, texels.address[k], texels.read[k], bytes, AccessKind::load, sectors_);
      for_each_lane(places.mask, [&](int lane) { add(k, lane, texels.weight[k][lane], places.at[lane], sums); });
      for_each_lane(texels.border[k], [&](int lane) { add(k, lane, texels.weight[k][lane], nullptr, sums); });
    }
    if (!filters() || opcode_.gathers) return;
    for_each_lane(lanes, [&](int lane) {
      for (std::size_t i = 0; i < 4; ++i) {
        results_[i][lane] = std::bit_cast<std::uint32_t>(static_cast<float>(sums[i][lane]));
      }
    });
  }

  void finish() {
    if (texture_ != nullptr) count_texels(warp_, operation_, sectors_, AccessKind::load, true);
  }

 private:
  bool filters() const { return sampler_->filter == FilterMode::linear && !opcode_.has_whole_coordinates; }
  bool reads_numbers() const {
    return is_floating(texture_->resource.format.type) || texture_->read == ReadMode::normalized;
  }
  std::uint32_t word(const Slot* slot, int lane) const { return warp_.read<std::uint32_t>(*slot)[lane]; }

  void find_texels(int lane, LaneTexels& texels) {
    const TexelResource& resource = texture_->resource;
    const Slot* coordinate = slots_.coordinates;
    std::uint64_t layer = 0;
    const bool is_cube = opcode_.geometry == Geometry::cube || opcode_.geometry == Geometry::cube_layered;
    if (is_layered(opcode_.geometry) && opcode_.geometry != Geometry::cube) layer = word(coordinate++, lane);
    std::array<std::uint32_t, 3> words{};
    const int axes = dimensions(opcode_.geometry);
    for (int axis = 0; axis < (is_cube ? 3 : axes); ++axis) words[axis] = word(coordinate++, lane);
    if (is_cube) {
      const CubeSample sample =
          cube_sample(std::bit_cast<float>(words[0]), std::bit_cast<float>(words[1]), std::bit_cast<float>(words[2]));
      words = {std::bit_cast<std::uint32_t>(sample.x), std::bit_cast<std::uint32_t>(sample.y), 0};
      layer = std::min(layer, resource.depth / 6 - 1) * 6 + static_cast<std::uint64_t>(sample.face);
    }
    std::array<AxisSample, 3> samples;
    const std::array<std::uint64_t, 3> sizes{resource.width, resource.height, resource.depth};
    for (int axis = 0; axis < axes; ++axis) {
      samples[axis] = sample(words[axis], axis, sizes[axis], lane, is_cube);
    }
    if (axes < 3) samples[2].index[0] = static_cast<std::int64_t>(std::min(layer, resource.depth - 1));
    std::size_t k = 0;
    for (int z = 0; z < samples[2].count; ++z) {
      for (int y = 0; y < samples[1].count; ++y) {
        for (int x = 0; x < samples[0].count; ++x, ++k) place(lane, k, {x, y, z}, samples, texels);
      }
    }
  }

  AxisSample sample(std::uint32_t coordinate, int axis, std::uint64_t size, int lane, bool is_cube) const {
    const int offset = opcode_.has_offsets ? static_cast<int>(word(slots_.offsets + axis, lane)) : 0;
    if (opcode_.has_whole_coordinates) {
      const AddressMode mode = texture_->resource.is_linear ? AddressMode::border : sampler_->address[axis];
      return fetch_axis(static_cast<std::int64_t>(static_cast<std::int32_t>(coordinate)) + offset, size, mode);
    }
    const auto number = std::bit_cast<float>(coordinate);
    SamplerDescription on_face;
    if (is_cube) {  // a face is never left, and its coordinates are normalized
      on_face.filter = sampler_->filter;
      on_face.normalized_coordinates = true;
    }
    const SamplerDescription& sampler = is_cube ? on_face : *sampler_;
    return opcode_.gathers ? gather_axis(number, offset, size, sampler, axis)
                           : sample_axis(number, offset, size, sampler, axis);
  }

  /// Places a texel; texels with a weight of zero are not read.
  static void place_texel(const TexelResource& resource, int lane, std::size_t k,
                          const std::array<std::int64_t, 3>& index, LaneTexels& texels) {
    const LaneMask bit = LaneMask{1} << lane;
    if (std::ranges::find(index, AxisSample::kBorder) != index.end()) {
      texels.border[k] |= bit;
      return;
    }
    texels.read[k] |= bit;
    texels.address[k][lane] =
        resource.address + static_cast<std::uint64_t>(index[0]) * static_cast<std::uint64_t>(resource.format.bytes()) +
        static_cast<std::uint64_t>(index[1]) * resource.row_pitch +
        static_cast<std::uint64_t>(index[2]) * resource.slice_pitch;
  }

  void place(int lane, std::size_t k, const std::array<int, 3>& corner, const std::array<AxisSample, 3>& samples,
             LaneTexels& texels) const {
    std::array<std::int64_t, 3> index{};
    double weight = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      index[axis] = samples[axis].index[static_cast<std::size_t>(corner[axis])];
      weight *= samples[axis].weight[static_cast<std::size_t>(corner[axis])];
    }
    texels.weight[k][lane] = weight;
    if (weight > 0) place_texel(texture_->resource, lane, k, index, texels);
  }

  /// Adds texel k of a lane, or the border's colour if `at` is null.
  void add(std::size_t k, int lane, double weight, const std::byte* at,
           std::array<std::array<double, kLanes>, 4>& sums) {
    const TexelFormat& format = texture_->resource.format;
    if (filters() && !opcode_.gathers) {
      const std::array<float, 4> numbers = at == nullptr ? border() : texel_numbers(format, texture_->srgb, at);
      for (std::size_t i = 0; i < 4; ++i) sums[i][lane] += weight * numbers[i];
      return;
    }
    std::array<std::uint32_t, 4> words{};
    if (at != nullptr && texture_->read == ReadMode::element) {
      words = texel_words(format, at);
    } else {
      const std::array<float, 4> numbers = at == nullptr ? border() : texel_numbers(format, texture_->srgb, at);
      for (std::size_t i = 0; i < 4; ++i) words[i] = word_of(numbers[i]);
    }
    if (opcode_.gathers) {
      constexpr std::array<std::size_t, 4> counter_clockwise{3, 2, 0, 1};  // starts at (x, y + 1)
      results_[counter_clockwise[k]][lane] = words[opcode_.component];
      return;
    }
    for (std::size_t i = 0; i < 4; ++i) results_[i][lane] = words[i];
  }

  /// The colour outside of the texture; linear memory has only zeros there.
  std::array<float, 4> border() const {
    return texture_->resource.is_linear ? std::array<float, 4>{} : sampler_->border;
  }
  std::uint32_t word_of(float number) const {
    if (reads_numbers()) return std::bit_cast<std::uint32_t>(number);
    if (std::isnan(number)) return 0;
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(std::clamp(number, -0x1p31F, 0x1.fffffep31F)));
  }

  const WarpState& warp_;
  const Operation& operation_;
  FetchOpcode opcode_;
  FetchSlots slots_;
  Results results_{};
  TouchedSectors sectors_;
  const TextureDescription* texture_ = nullptr;
  const SamplerDescription* sampler_ = nullptr;
};

/// Finds the sampler that the instruction names. Texel coordinates stay texel coordinates, whatever the sampler says.
bool find_sampler(const WarpState& warp, const Operation& operation, LaneMask lanes, std::uint64_t handle,
                  const SamplerDescription& of_texture, SamplerDescription& sampler) {
  const std::uint64_t value = handle_value(warp, handle);
  const SamplerDescription* const found = warp.block->textures->find_sampler(value);
  if (found == nullptr) {
    warp.block->fault(warp, operation, Checker::memory, kNoSampler, lanes, [&](int lane) {
      return warp.block->finding_at(
          warp, operation, lane, Checker::memory,
          fmt::format("access with the sampler 0x{:x}, which is {}", value, warp.block->textures->what_is(value)));
    });
    return false;
  }
  sampler = *found;
  sampler.normalized_coordinates = sampler.normalized_coordinates && of_texture.normalized_coordinates;
  return true;
}

std::uint32_t half_bits(std::uint32_t word) { return round_to<Half>(std::bit_cast<float>(word)).bits; }

/// Operands: handle, sampler (or the handle again), the predicate that says whether the texels are resident.
void fetch(WarpState& warp, const Operation& operation) {
  Fetch fetch(warp, operation);
  const FetchOpcode& opcode = fetch.opcode();
  for_each_handle(warp, operation.operands[0], operation.operands[1], [&](LaneMask lanes, int first) {
    const std::uint64_t handle = warp.read<std::uint64_t>(operation.operands[0])[first];
    const TextureObject* const object = find_object(warp, operation, lanes, handle, false, opcode.geometry);
    if (object == nullptr) return;
    const TextureDescription& texture = object->description;
    if (texture.resource.is_linear && !opcode.has_whole_coordinates) {
      warp.block->fault(warp, operation, Checker::memory, kOtherGeometry, lanes, [&](int lane) {
        return warp.block->finding_at(warp, operation, lane, Checker::memory,
                                      "access with float coordinates to a texture of linear memory");
      });
      return;
    }
    if (!opcode.has_sampler) return fetch.read(lanes, texture, texture.sampler);
    SamplerDescription sampler;
    const std::uint64_t sampler_handle = warp.read<std::uint64_t>(operation.operands[1])[first];
    if (find_sampler(warp, operation, lanes, sampler_handle, texture.sampler, sampler)) {
      fetch.read(lanes, texture, sampler);
    }
  });
  fetch.finish();
  const Results& results = fetch.results();
  const Slot* const slots = fetch.slots().results;
  const auto write = [&](std::size_t i, const auto& value) {
    write_lanes(warp.write<std::uint32_t>(slots[i]), warp.mask, value);
  };
  if (opcode.result == TexelResult::half_pair) {
    for (std::size_t i = 0; i < 2; ++i) {
      write(i, [&](int lane) { return half_bits(results[2 * i][lane]) | (half_bits(results[2 * i + 1][lane]) << 16); });
    }
  } else {
    const bool halves = opcode.result == TexelResult::half;
    for (std::size_t i = 0; i < 4; ++i) {
      write(i, [&](int lane) { return halves ? half_bits(results[i][lane]) : results[i][lane]; });
    }
  }
  write_predicate(warp.write<LaneMask>(operation.operands[2]), warp.mask, warp.mask);
}

}  // namespace

bool decode_texture_fetch(InstructionDecoder& decoder) {
  const auto parsed = parse_fetch(decoder.instruction().opcode);
  if (!parsed) return false;
  FetchOpcode opcode = *parsed;
  const auto& operands = decoder.instruction().operands;
  const std::size_t least = 2U + opcode.operands_of_level;
  if (operands.size() < least) decoder.expect_operands(least);
  const ptx::Operand& address = operands[1];
  if (address.kind != ptx::OperandKind::address || address.elements.empty() || address.elements.size() > 2) {
    decoder.fail("expected [texture, coordinates] or [texture, sampler, coordinates]");
  }
  opcode.has_sampler = address.elements.size() == 2;
  opcode.has_offsets = operands.size() > least && operands[least].kind == ptx::OperandKind::vector;
  if (operands.size() > least + (opcode.has_offsets ? 1 : 0)) decoder.fail("comparing depths is not supported");

  const bool is_cube = opcode.geometry == Geometry::cube || opcode.geometry == Geometry::cube_layered;
  const bool has_layer = is_layered(opcode.geometry) && opcode.geometry != Geometry::cube;
  const auto axes = static_cast<std::size_t>(is_cube ? 3 : dimensions(opcode.geometry));
  if (opcode.has_offsets && is_cube) decoder.fail("a cube has no offsets");
  Operation operation;
  operation.operands[0] = decode_handle(decoder, address);
  operation.operands[1] = opcode.has_sampler ? decode_handle(decoder, address.elements[0]) : operation.operands[0];
  const std::vector<Slot> coordinates =
      decode_coordinates(decoder, address.elements.back(), axes + (has_layer ? 1 : 0));
  std::vector<Slot> offsets;
  if (opcode.has_offsets) offsets = decode_coordinates(decoder, operands[least], axes);

  const bool has_predicate = operands[0].kind == ptx::OperandKind::pair;
  const ptx::Operand& destination = has_predicate ? operands[0].elements[0] : operands[0];
  const std::size_t count = opcode.result == TexelResult::half_pair ? 2 : 4;
  if (destination.elements.size() != count) {
    decoder.fail(fmt::format("expected {} elements, found {}", count, destination.elements.size()));
  }
  std::vector<Slot> slots;
  slots.reserve(count + coordinates.size() + offsets.size());
  for (const ptx::Operand& element : destination.elements) slots.push_back(decoder.write_narrow(element, 32));
  operation.operands[2] = has_predicate ? decoder.write(operands[0].elements[1], 1) : decoder.ignored_predicate();
  slots.insert(slots.end(), coordinates.begin(), coordinates.end());
  slots.insert(slots.end(), offsets.begin(), offsets.end());
  operation.list = decoder.keep_operands(slots);
  operation.offset = std::bit_cast<std::int64_t>(opcode);
  operation.handler = fetch;
  decoder.emit(operation);
  decoder.finish_writes();
  return true;
}

}  // namespace convladder::simulated
