// Changes of tensor maps by kernels (PTX ISA 9.0, 9.7.9.26: tensormap.replace; 9.7.13.16: tensormap.cp_fenceproxy).
// The fence between proxies orders nothing that the simulated device would do in another order.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/memory/bulk_write.hpp"
#include "simulator/memory/tensor_map.hpp"
#include "simulator/state/cluster.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {

using ptx::Space;

namespace {

using U64 = std::uint64_t;
using Words = std::vector<std::string_view>;

constexpr int kBadTensorMap = 126;  // a kind of fault in addition to those of accesses
constexpr U64 kMapAlignment = 64;

/// Narrows a value. One that does not fit becomes one that no tensor map can have, which is found when the map is used.
template <typename To>
To narrowed(U64 value) {
  return static_cast<To>(std::min<U64>(value, std::numeric_limits<To>::max()));
}

/// Sets a field to a value; a field that each dimension has is set for dimension `i`.
using SetField = void (*)(TensorMap& map, std::size_t i, U64 value);

struct Field {
  std::string_view name;
  int bits;
  std::size_t dimensions;  ///< 0: the field has one value
  U64 values;              ///< number of values of an enumeration; 0: any value is possible
  SetField set;
};
constexpr Field kFields[] = {
    {"global_address", 64, 0, 0, [](TensorMap& map, std::size_t, U64 value) { map.address = value; }},
    {"rank", 32, 0, 0, [](TensorMap& map, std::size_t, U64 value) { map.rank = narrowed<std::uint8_t>(value + 1); }},
    {"box_dim", 32, 5, 0,
     [](TensorMap& map, std::size_t i, U64 value) { map.box[i] = narrowed<std::uint16_t>(value); }},
    {"global_dim", 32, 5, 0, [](TensorMap& map, std::size_t i, U64 value) { map.sizes[i] = value; }},
    {"global_stride", 64, 4, 0, [](TensorMap& map, std::size_t i, U64 value) { map.strides[i] = value; }},
    {"element_stride", 32, 5, 0,
     [](TensorMap& map, std::size_t i, U64 value) { map.element_strides[i] = narrowed<std::uint8_t>(value); }},
    {"elemtype", 32, 0, 16,
     [](TensorMap& map, std::size_t, U64 value) {
       map.type = tensor_type_of_instruction(static_cast<std::uint32_t>(value));
     }},
    {"interleave_layout", 32, 0, 3,
     [](TensorMap& map, std::size_t, U64 value) { map.interleave = static_cast<std::uint8_t>(value); }},
    {"swizzle_mode", 32, 0, 5,
     [](TensorMap& map, std::size_t, U64 value) { map.swizzle = static_cast<TensorSwizzle>(value); }},
    {"swizzle_atomicity", 32, 0, 4,
     [](TensorMap& map, std::size_t, U64 value) { map.atom = static_cast<TensorAtom>(value); }},
    {"fill_mode", 32, 0, 2,
     [](TensorMap& map, std::size_t, U64 value) { map.fills_nan = static_cast<std::uint8_t>(value); }},
};

void observe(const WarpState& warp, const Operation& operation, int lane, const Region& region, AccessKind kind) {
  if (warp.block->observers.empty()) return;
  const SharedPlace place = region.space == Space::shared ? shared_place(*warp.block, operation, region.address)
                                                          : SharedPlace{nullptr, region.address};
  Addresses addresses;
  addresses.fill(place.offset);
  for (AccessObserver* const observer : warp.block->observers) {
    observer->access({&operation, &warp, region.space, &addresses, LaneMask{1} << lane, static_cast<int>(region.bytes),
                      kind, place.owner});
  }
}

bool is_all_zero(const std::byte* map) {
  return std::all_of(map, map + TensorMap::kBytes, [](std::byte byte) { return byte == std::byte{}; });
}

/// Operands: tensor map, value. `detail` is the field, `offset` the dimension, `list` 1 if the map is in shared memory,
/// 0 if it is in global memory, 2 if its address is generic.
void replace_field(WarpState& warp, const Operation& operation) {
  const Field& field = kFields[operation.detail];
  for_each_lane(warp.mask, [&](int lane) {
    U64 address = warp.read<U64>(operation.operands[0])[lane];
    bool is_shared = operation.list == 1;
    if (operation.list == 2 && address >= kSharedWindow && address < kLocalWindow) {
      is_shared = true;
      address -= kSharedWindow;
    }
    const Region region{is_shared ? Space::shared : Space::global, address, TensorMap::kBytes, kMapAlignment};
    std::byte* const at = reach_region(warp, operation, lane, region, AccessKind::store);
    if (at == nullptr) return;
    observe(warp, operation, lane, region, AccessKind::load);
    TensorMap map;
    std::memcpy(&map, at, sizeof map);
    if (is_all_zero(at)) map = TensorMap::of_zeroes();
    if (map.magic != TensorMap::kMagic) {
      const BlockContext& block = *warp.block;
      return block.fault(warp, operation, Checker::memory, kBadTensorMap, LaneMask{1} << lane, [&](int of) {
        return block.finding_at(warp, operation, of, Checker::memory, fmt::format("tensor map: {}", map.problem()));
      });
    }
    const U64 value = field.bits == 64 ? warp.read<U64>(operation.operands[1])[lane]
                                       : warp.read<std::uint32_t>(operation.operands[1])[lane];
    field.set(map, static_cast<std::size_t>(operation.offset), value);
    std::memcpy(at, &map, sizeof map);
    ++warp.block->memory_changes;
    ++warp.block->counters[operation.instruction].requests;
    observe(warp, operation, lane, region, AccessKind::store);
  });
}

/// Operands: destination, source. The warp copies one map.
void copy_map(WarpState& warp, const Operation& operation) {
  if (warp.mask == 0) return;
  const int lane = std::countr_zero(warp.mask);
  const Region from{Space::shared, warp.read<U64>(operation.operands[1])[lane], TensorMap::kBytes, kMapAlignment};
  const Region to{Space::global, warp.read<U64>(operation.operands[0])[lane], TensorMap::kBytes, kMapAlignment};
  const std::byte* const source = reach_region(warp, operation, lane, from, AccessKind::load);
  std::byte* const destination = reach_region(warp, operation, lane, to, AccessKind::store);
  if (source == nullptr || destination == nullptr) return;
  observe(warp, operation, lane, from, AccessKind::load);
  std::memcpy(destination, source, TensorMap::kBytes);
  ++warp.block->memory_changes;
  ++warp.block->counters[operation.instruction].requests;
  observe(warp, operation, lane, to, AccessKind::store);
}

/// Decodes "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, value".
bool decode_replace(InstructionDecoder& decoder, const Words& words) {
  if (words.size() < 6 || words[2] != "tile" || words[words.size() - 2] != "b1024") return false;
  const auto* const field = std::ranges::find(kFields, words[3], &Field::name);
  if (field == std::end(kFields) || words.back() != (field->bits == 64 ? "b64" : "b32")) return false;
  const bool names_space = words.size() == 7;
  if (words.size() > 7) return false;
  if (names_space && words[4] != "global" && words[4] != "shared::cta") return false;
  decoder.expect_operands(field->dimensions > 0 ? 3 : 2);
  const auto& operands = decoder.instruction().operands;
  Operation operation;
  const auto immediate = [&](const ptx::Operand& operand, U64 end, std::string_view what) {
    if (operand.kind != ptx::OperandKind::immediate || operand.bits >= end) {
      decoder.fail(fmt::format("expected {} from 0 to {}", what, end - 1));
    }
    return operand.bits;
  };
  if (field->dimensions > 0) {
    operation.offset = static_cast<std::int64_t>(immediate(operands[1], field->dimensions, "a dimension"));
  }
  if (field->values > 0) static_cast<void>(immediate(operands.back(), field->values, "a number"));
  const Space space = !names_space ? Space::generic : words[4] == "global" ? Space::global : Space::shared;
  operation.list = space == Space::shared ? 1 : space == Space::generic ? 2 : 0;
  operation.operands[0] =
      space == Space::shared ? decoder.shared_address(operands[0], space) : decoder.whole_address(operands[0], space);
  operation.operands[1] = decoder.read(operands.back(), field->bits);
  operation.detail = static_cast<int>(field - kFields);
  operation.handler = replace_field;
  decoder.emit(operation);
  return true;
}

/// Decodes "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [to], [from], 128".
bool decode_copy_of_map(InstructionDecoder& decoder, const Words& words) {
  constexpr std::string_view kScopes[] = {"cta", "cluster", "gpu", "sys"};
  const bool is_known = words.size() == 9 && words[2] == "global" && words[3] == "shared::cta" &&
                        words[4] == "tensormap::generic" && words[5] == "release" && words[7] == "sync" &&
                        words[8] == "aligned" && std::ranges::find(kScopes, words[6]) != std::end(kScopes);
  if (!is_known) return false;
  decoder.expect_operands(3);
  const auto& operands = decoder.instruction().operands;
  if (operands[2].kind != ptx::OperandKind::immediate || operands[2].bits != TensorMap::kBytes) {
    decoder.fail("a tensor map has 128 bytes");
  }
  const Slot to = decoder.whole_address(operands[0], Space::global);
  const Slot from = decoder.shared_address(operands[1], Space::shared);
  decoder.emit_meeting(copy_map, {to, from}, Operation::kAllLive);
  return true;
}

}  // namespace

bool decode_tensor_map(InstructionDecoder& decoder) {
  const Words words = ptx::split_opcode(decoder.instruction().opcode);
  if (words[0] != "tensormap" || words.size() < 3) return false;
  if (words[1] == "replace") return decode_replace(decoder, words);
  return words[1] == "cp_fenceproxy" && decode_copy_of_map(decoder, words);
}

}  // namespace convladder::simulated
