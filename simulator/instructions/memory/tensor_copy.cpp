// Copies by tensor map (PTX ISA 9.0, 9.7.9.25.5: cp.async.bulk.tensor, cp.reduce.async.bulk.tensor,
// cp.async.bulk.prefetch.tensor) between a box of a tensor in global memory and shared memory.
//
// They begin and land like other bulk copies (bulk_copy.cpp). Counters, for each thread: a request, the bytes of the
// box, the sectors of each of its rows inside the tensor, and a pass over the banks for every 128 bytes of shared
// memory. Reading the tensor map costs nothing.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/memory/bulk_write.hpp"
#include "simulator/instructions/memory/tensor_copy_opcode.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {

using ptx::Space;

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr int kBadTensorCopy = 125;  // a kind of fault in addition to those of accesses
constexpr U64 kMapAlignment = 64;
constexpr U64 kSharedAlignment = 128;  // of a box

/// The reduction of bulk copies for this operation on elements of the type; 0 if there is none.
int reduction_of(std::string_view operation, TensorType type) {
  std::string_view element = name_of(type);
  if (operation == "and" || operation == "or" || operation == "xor") {
    element = bits_of(type) == 32 ? "b32" : bits_of(type) == 64 ? "b64" : "";
  } else if (type == TensorType::f32_ftz) {
    element = "f32";
  } else if (operation == "add" && (type == TensorType::f16 || type == TensorType::bf16)) {
    element = type == TensorType::f16 ? "noftz.f16" : "noftz.bf16";
  } else if (operation == "add" && type == TensorType::f64) {
    element = "";  // the ISA's name of it
  }
  return find_bulk_reduction(fmt::format("{}.{}", operation, element));
}

// --- execution ------------------------------------------------------------------------------------------------------

struct Box {
  TensorMap map;
  BoxPlace place;
  U64 bytes = 0;
};

void tensor_fault(const WarpState& warp, const Operation& operation, int lane, const std::string& problem) {
  const BlockContext& block = *warp.block;
  block.fault(warp, operation, Checker::memory, kBadTensorCopy, LaneMask{1} << lane,
              [&](int at) { return block.finding_at(warp, operation, at, Checker::memory, problem); });
}

/// The tensor map at a generic address.
std::optional<TensorMap> read_map(const WarpState& warp, const Operation& operation, int lane, U64 address) {
  const bool is_parameter = address >= kParameterWindow && address < kFunctionWindow;
  const Region region{is_parameter ? Space::param : Space::global, is_parameter ? address - kParameterWindow : address,
                      TensorMap::kBytes, kMapAlignment};
  const std::byte* const at = find_region(warp, operation, lane, region, AccessKind::load);
  if (at == nullptr) return std::nullopt;
  if (!is_parameter) {
    Addresses addresses;
    addresses.fill(address);
    for (AccessObserver* const observer : warp.block->observers) {
      observer->access({&operation, &warp, Space::global, &addresses, LaneMask{1} << lane,
                        static_cast<int>(TensorMap::kBytes), AccessKind::load});
    }
  }
  TensorMap map;
  std::memcpy(&map, at, sizeof map);
  return map;
}

/// Finds and counts the box of a lane's instruction. None, and a fault, if the box is not possible. Operand 0 is the
/// tensor map's address; the coordinates and then the offsets are in the list.
std::optional<Box> find_box(const WarpState& warp, const Operation& operation, int lane, CopyDirection direction) {
  const TensorOpcode opcode = TensorOpcode::of(operation.detail);
  const auto map = read_map(warp, operation, lane, warp.read<U64>(operation.operands[0])[lane]);
  if (!map) return std::nullopt;
  BoxPlace place{opcode.access, opcode.dimensions, {}, {}, direction == CopyDirection::store};
  const Slot* slot = warp.block->program->operand_lists.data() + operation.list;
  for (std::size_t i = 0; i < opcode.coordinates(); ++i) place.first[i] = warp.read<std::int32_t>(*slot++)[lane];
  if (opcode.access == BoxAccess::im2col) {
    for (std::size_t i = 0; i + 2 < opcode.dimensions; ++i) {
      place.offsets[i] = static_cast<std::uint16_t>(warp.read<U32>(*slot++)[lane]);
    }
  }
  if (const std::string problem = problem_of(*map, place); !problem.empty()) {
    tensor_fault(warp, operation, lane, problem);
    return std::nullopt;
  }
  const U64 bytes = bytes_of(*map, place);
  if (direction != CopyDirection::prefetch && bytes > warp.block->shared.size()) {
    tensor_fault(warp, operation, lane,
                 fmt::format("a box of {} bytes, but the block has {} bytes of shared memory", bytes,
                             warp.block->shared.size()));
    return std::nullopt;
  }
  InstructionCounters& counters = warp.block->counters[operation.instruction];
  ++counters.requests;
  counters.bytes += bytes;
  return Box{*map, place, bytes};
}

/// Pieces of the box that are contiguous in shared memory.
struct SharedRun {
  U64 offset = 0;
  std::size_t bytes = 0;
  std::byte* at = nullptr;
};

/// The places of the pieces; none, and a fault, if they are not possible.
std::vector<SharedRun> reach_pieces(const WarpState& warp, const Operation& operation, int lane, U64 offset,
                                    const std::vector<BoxPiece>& pieces, AccessKind kind) {
  const Region aligned{Space::shared, offset, 1, kSharedAlignment};
  if (find_region(warp, operation, lane, aligned, kind) == nullptr) return {};
  std::vector<SharedRun> runs;
  for (const BoxPiece& piece : pieces) {
    const bool goes_on = !runs.empty() && runs.back().offset + runs.back().bytes == piece.offset;
    if (!goes_on) runs.push_back({piece.offset, 0, nullptr});
    runs.back().bytes += piece.bytes;
  }
  for (SharedRun& run : runs) {
    run.at = reach_region(warp, operation, lane, {Space::shared, run.offset, run.bytes, 8}, kind);
    if (run.at == nullptr) return {};
  }
  return runs;
}

/// Calls body(byte of the box, place in shared memory, bytes) for each piece.
template <typename Body>
void for_each_piece(const std::vector<BoxPiece>& pieces, const std::vector<SharedRun>& runs, const Body& body) {
  auto run = runs.begin();
  for (const BoxPiece& piece : pieces) {
    if (piece.offset >= run->offset + run->bytes) ++run;
    body(piece.first, run->at + (piece.offset - run->offset), piece.bytes);
  }
}

/// Rounds elements of type tf32 to its 10 bits of fraction, to nearest.
void round_to_tf32(std::span<std::byte> row) {
  constexpr U32 kDropped = 13;
  for (std::size_t i = 0; i + 4 <= row.size(); i += 4) {
    U32 bits = 0;
    std::memcpy(&bits, row.data() + i, 4);
    const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
    if (!is_nan) bits += (1U << (kDropped - 1)) - 1 + (bits >> kDropped & 1);
    bits = bits >> kDropped << kDropped;
    if (is_nan) bits |= 1U << 22;
    std::memcpy(row.data() + i, &bits, 4);
  }
}

struct RowsRead {
  std::vector<std::byte> data;  // of the box
  std::vector<BulkRead> reads;
};

/// Reads the box's bytes from global memory. Rows that cannot be read are faults. They stay as they are: the copy
/// arrives at its mbarrier nevertheless, so that nobody is said to wait forever on top of the fault.
RowsRead read_rows(const WarpState& warp, const Operation& operation, int lane, const Box& box) {
  RowsRead result{filled_box(box.map, box.bytes), {}};
  std::vector<std::byte>& data = result.data;
  const bool is_tf32 = box.map.type == TensorType::tf32 || box.map.type == TensorType::tf32_ftz;
  for (const BoxRow& row : rows_of(box.map, box.place)) {
    const auto unit = static_cast<U64>(std::max(bits_of(box.map.type) / 8, 1));
    const std::byte* const at =
        reach_region(warp, operation, lane, {Space::global, row.address, row.bytes, unit}, AccessKind::load);
    if (at == nullptr) continue;
    result.reads.push_back({row.address, row.bytes});
    std::memcpy(data.data() + row.first, at, row.bytes);
    if (is_tf32) round_to_tf32(std::span(data).subspan(row.first, row.bytes));
  }
  return result;
}

/// Sends the bytes of a box, which have been read, to one destination.
void send_box(const WarpState& warp, const Operation& operation, int lane, const Box& box,
              const std::vector<std::byte>& data, std::span<const BulkRead> reads, U64 to, U64 mbarrier) {
  const std::vector<BoxPiece> pieces = pieces_of(box.map, to, box.bytes);
  const std::vector<SharedRun> runs = reach_pieces(warp, operation, lane, to, pieces, AccessKind::store);
  if (runs.empty()) return;
  BulkWrite write{warp, &operation, lane, ++warp.block->bulk_copies, Space::shared, {}, {}, bulk_combine(0, false)};
  for (const BoxPiece& piece : pieces) {  // in the order of shared memory, so that a run is one part
    const auto first = data.begin() + static_cast<std::ptrdiff_t>(piece.first);
    write.data.insert(write.data.end(), first, first + static_cast<std::ptrdiff_t>(piece.bytes));
  }
  std::size_t first = 0;
  for (const SharedRun& run : runs) {
    write.parts.push_back({run.offset, run.at, first, run.bytes});
    first += run.bytes;
  }
  announce(write, Space::global, reads);
  begin_arrival(std::move(write), mbarrier);
}

/// Operands: tensor map, destination, mbarrier, and, for a multicast, the blocks that the data goes to.
template <bool kMulticast>
void load_box(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    const auto box = find_box(warp, operation, lane, CopyDirection::load);
    if (!box) return;
    const RowsRead rows = read_rows(warp, operation, lane, *box);
    const U64 to = warp.read<U64>(operation.operands[1])[lane];
    const U64 mbarrier = warp.read<U64>(operation.operands[2])[lane];
    if constexpr (kMulticast) {
      const U32 blocks = warp.read<U32>(operation.operands[3])[lane];
      for_each_receiver(*warp.block, blocks, to, mbarrier, [&](U64 receiver, U64 its_mbarrier) {
        send_box(warp, operation, lane, *box, rows.data, rows.reads, receiver, its_mbarrier);
      });
    } else {
      send_box(warp, operation, lane, *box, rows.data, rows.reads, to, mbarrier);
    }
  });
}

/// Operands: tensor map, source.
void store_box(WarpState& warp, const Operation& operation) {
  const int reduction_number = TensorOpcode::of(operation.detail).reduction;
  for_each_lane(warp.mask, [&](int lane) {
    const auto box = find_box(warp, operation, lane, CopyDirection::store);
    if (!box) return;
    int reduction = 0;
    if (reduction_number != 0) {
      const std::string_view name = kTensorReductions[reduction_number - 1];
      reduction = reduction_of(name, box->map.type);
      if (reduction == 0) {
        return tensor_fault(warp, operation, lane,
                            fmt::format("there is no .{} for elements of the type {}", name, name_of(box->map.type)));
      }
    }
    const U64 from = warp.read<U64>(operation.operands[1])[lane];
    const std::vector<BoxPiece> pieces = pieces_of(box->map, from, box->bytes);
    const std::vector<SharedRun> runs = reach_pieces(warp, operation, lane, from, pieces, AccessKind::load);
    if (runs.empty()) return;
    BulkWrite write{warp,
                    &operation,
                    lane,
                    ++warp.block->bulk_copies,
                    Space::global,
                    {},
                    std::vector<std::byte>(box->bytes),
                    bulk_combine(reduction, warp.block->adds_bits())};
    const bool is_read_late = reads_late(warp);
    for_each_piece(pieces, runs, [&](std::size_t first, const std::byte* at, std::size_t bytes) {
      std::memcpy(write.data.data() + first, at, bytes);
      if (is_read_late) write.late_reads.push_back({at, first, bytes});
    });
    for (const BoxRow& row : rows_of(box->map, box->place)) {
      const auto unit = static_cast<U64>(std::max(bits_of(box->map.type) / 8, 1));
      std::byte* const at =
          reach_region(warp, operation, lane, {Space::global, row.address, row.bytes, unit}, AccessKind::store);
      if (at == nullptr) return;
      write.parts.push_back({row.address, at, row.first, row.bytes});
    }
    if (write.parts.empty()) return;  // the whole box is outside of the tensor
    std::vector<BulkRead> reads;
    reads.reserve(runs.size());
    for (const SharedRun& run : runs) reads.push_back({run.offset, run.bytes});
    announce(write, Space::shared, reads);
    begin_in_group(std::move(write));
  });
}

/// Checks the tensor map for errors; the caches are not affected.
void prefetch_box(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask,
                [&](int lane) { static_cast<void>(find_box(warp, operation, lane, CopyDirection::prefetch)); });
}

// --- decoding -------------------------------------------------------------------------------------------------------

/// The elements of "{a, b}", or a register alone; checks their number.
std::vector<ptx::Operand> elements_of(const InstructionDecoder& decoder, const ptx::Operand& operand,
                                      std::size_t count) {
  const bool is_vector = operand.kind == ptx::OperandKind::vector;
  std::vector<ptx::Operand> elements = is_vector ? operand.elements : std::vector{operand};
  if (elements.size() != count) decoder.fail(fmt::format("expected {} elements, found {}", count, elements.size()));
  return elements;
}

/// Decodes "[map, {x, y}]": the map's address becomes operand 0.
void decode_place(InstructionDecoder& decoder, const ptx::Operand& operand, const ptx::Operand* offsets,
                  const TensorOpcode& opcode, Operation& operation) {
  if (operand.kind != ptx::OperandKind::address || operand.elements.size() != 1) {
    decoder.fail("expected [tensor map, {coordinates}]");
  }
  operation.operands[0] = decoder.whole_address(operand, Space::generic);
  std::vector<Slot> list;
  for (const ptx::Operand& element : elements_of(decoder, operand.elements[0], opcode.coordinates())) {
    list.push_back(decoder.read(element, 32));
  }
  if (offsets != nullptr) {
    for (const ptx::Operand& element : elements_of(decoder, *offsets, opcode.offsets())) {
      list.push_back(decoder.read(element, 32));
    }
  }
  while (list.size() < opcode.coordinates() + 3) list.push_back(decoder.constant(0, 32));
  operation.list = decoder.keep_operands(list);
  operation.detail = opcode.packed();
}

}  // namespace

bool decode_tensor_copy(InstructionDecoder& decoder) {
  const auto opcode = parse_tensor_copy(decoder.instruction().opcode);
  if (!opcode) return false;
  const auto& operands = decoder.instruction().operands;
  const bool loads = opcode->direction == CopyDirection::load;
  const bool stores = opcode->direction == CopyDirection::store;
  std::size_t next = loads ? 3 : stores ? 2 : 1;  // the first operand after those that always exist
  decoder.expect_operands(next + (opcode->has_offsets ? 1 : 0) + (opcode->is_multicast ? 1 : 0) +
                          (opcode->has_policy ? 1 : 0));
  const ptx::Operand* const offsets = opcode->has_offsets ? &operands[next++] : nullptr;
  Operation operation;
  decode_place(decoder, operands[loads ? 1 : 0], offsets, *opcode, operation);
  if (loads) {
    operation.operands[1] = decoder.shared_address(operands[0], Space::shared);
    operation.operands[2] = decoder.shared_address(operands[2], Space::shared);
  } else if (stores) {
    operation.operands[1] = decoder.shared_address(operands[1], Space::shared);
  }
  if (opcode->is_multicast) operation.operands[3] = decoder.read(operands[next++], 32);
  if (opcode->has_policy) static_cast<void>(decoder.read(operands[next], 64));
  operation.handler = opcode->is_multicast ? &load_box<true>
                      : loads              ? &load_box<false>
                      : stores             ? &store_box
                                           : &prefetch_box;
  if (opcode->reduction != 0) decoder.require_block_order();
  decoder.emit(operation);
  return true;
}

}  // namespace convladder::simulated
