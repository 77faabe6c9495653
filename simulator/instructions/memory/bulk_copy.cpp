// Copies of any length that a single thread begins (PTX ISA 9.0, 9.7.9.25.4: cp.async.bulk, cp.reduce.async.bulk), and
// stores that arrive at an mbarrier (9.7.9.12, 9.7.13.7: st.async, red.async).
//
// The source is read when the instruction is executed. Data that completes a phase of an mbarrier lands when
// somebody checks whether the phase has ended; data in groups when the thread waits for them, or when the block ends.
// Counters of the instruction, for each thread: a request, its bytes, the sectors of global memory, and a pass over the
// banks for every 128 bytes of shared memory. Global memory is reached past the L1.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/memory/bulk_write.hpp"
#include "simulator/instructions/memory/mbarrier.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {

using ptx::Space;

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr int kBadSize = 120;        // a kind of fault in addition to those of accesses
constexpr std::uint64_t kUnit = 16;  // of addresses and sizes of copies

// --- execution ------------------------------------------------------------------------------------------------------

/// Sends the data that a lane's copy has read to one destination. The mbarrier is that of a copy that is not in a
/// group: a copy whose source is a fault (null) brings zeros, so that nobody is said to wait forever on top of it.
template <Space kDestination, Space kSource>
void begin_copy(WarpState& warp, const Operation& operation, int lane, const BulkRead& read, const std::byte* source,
                U64 to, U64 mbarrier) {
  BlockContext& block = *warp.block;
  std::byte* const destination =
      reach_region(warp, operation, lane, {kDestination, to, read.bytes, kUnit}, AccessKind::store);
  if (destination == nullptr || (source == nullptr && kDestination == Space::global)) return;
  BulkWrite write{warp,
                  &operation,
                  lane,
                  ++block.bulk_copies,
                  kDestination,
                  {{to, destination, 0, read.bytes}},
                  std::vector<std::byte>(read.bytes),
                  bulk_combine(operation.list, warp.block->adds_bits())};
  if (source != nullptr) std::copy_n(source, read.bytes, write.data.begin());
  if (source != nullptr && reads_late(warp)) write.late_reads = {{source, 0, read.bytes}};
  announce(write, kSource, std::span(&read, source == nullptr ? 0U : 1U));
  if constexpr (kDestination == Space::global) {
    begin_in_group(std::move(write));
  } else {
    begin_arrival(std::move(write), mbarrier);
  }
}

/// Operands: destination, source, bytes, the mbarrier of a copy that is not in a group, and, where `detail` is 1, the
/// blocks of the cluster that the data goes to.
template <Space kDestination, Space kSource>
void copy_in_bulk(WarpState& warp, const Operation& operation) {
  BlockContext& block = *warp.block;
  for_each_lane(warp.mask, [&](int lane) {
    const std::uint64_t bytes = warp.read<U32>(operation.operands[2])[lane];
    if (bytes % kUnit != 0 || bytes > std::uint64_t{Mbarrier::kMostBytes}) {
      return block.fault(warp, operation, Checker::memory, kBadSize, LaneMask{1} << lane, [&](int at) {
        return block.finding_at(warp, operation, at, Checker::memory,
                                fmt::format("a bulk copy of {} bytes; multiples of 16 below 2^20 are possible", bytes));
      });
    }
    const std::uint64_t from = warp.read<U64>(operation.operands[1])[lane];
    const std::uint64_t to = warp.read<U64>(operation.operands[0])[lane];
    ++block.counters[operation.instruction].requests;
    block.counters[operation.instruction].bytes += bytes;
    if (bytes == 0) return;
    const std::byte* const source =
        reach_region(warp, operation, lane, {kSource, from, bytes, kUnit}, AccessKind::load);
    const BulkRead read{from, bytes};
    const auto begin = [&](U64 receiver, U64 mbarrier) {
      begin_copy<kDestination, kSource>(warp, operation, lane, read, source, receiver, mbarrier);
    };
    if constexpr (kDestination == Space::global) {
      begin(to, 0);
    } else {
      const U64 mbarrier = warp.read<U64>(operation.operands[3])[lane];
      if (operation.detail == 0) return begin(to, mbarrier);
      for_each_receiver(block, warp.read<U32>(operation.operands[4])[lane], to, mbarrier, begin);
    }
  });
}

/// Operands: destination, mbarrier, elements of the value. `detail` is the size of an element in bytes.
void store_in_bulk(WarpState& warp, const Operation& operation) {
  BlockContext& block = *warp.block;
  const auto element_bytes = static_cast<std::size_t>(operation.detail);
  const std::size_t bytes = element_bytes * operation.vector_elements;
  for_each_lane(warp.mask, [&](int lane) {
    const std::uint64_t to = warp.read<U64>(operation.operands[0])[lane];
    ++block.counters[operation.instruction].requests;
    block.counters[operation.instruction].bytes += bytes;
    std::byte* const destination =
        reach_region(warp, operation, lane, {Space::shared, to, bytes, bytes}, AccessKind::store);
    if (destination == nullptr) return;
    BulkWrite write{warp,
                    &operation,
                    lane,
                    ++block.bulk_copies,
                    Space::shared,
                    {{to, destination, 0, bytes}},
                    std::vector<std::byte>(bytes),
                    bulk_combine(operation.list, warp.block->adds_bits())};
    for (std::size_t i = 0; i < operation.vector_elements; ++i) {
      const Slot slot = operation.operands[2 + i];
      const std::uint64_t value = element_bytes == 8 ? warp.read<U64>(slot)[lane] : warp.read<U32>(slot)[lane];
      std::memcpy(write.data.data() + i * element_bytes, &value, element_bytes);
    }
    announce(write, Space::shared, {});
    begin_arrival(std::move(write), warp.read<U64>(operation.operands[1])[lane]);
  });
}

void commit_group(WarpState& warp, const Operation& /*operation*/) {
  for_each_lane(warp.mask, [&](int lane) { warp.block->bulk_groups.commit(warp.index * kLanes + lane); });
}

/// `offset` is the number of groups that may remain, `detail` 1 if the wait is for reading sources only.
void wait_group(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    warp.block->bulk_groups.wait(warp.index * kLanes + lane, static_cast<std::uint64_t>(operation.offset),
                                 operation.detail == 1, [&](const BulkWrite& write) {
                                   for (AccessObserver* const observer : warp.block->observers) {
                                     observer->copy_seen(warp, write.number, operation.detail == 0);
                                   }
                                 });
  });
}

void do_nothing(WarpState& /*warp*/, const Operation& /*operation*/) {}

// --- decoding -------------------------------------------------------------------------------------------------------

using Words = std::vector<std::string_view>;

bool is_shared(std::string_view word) { return word == "shared::cluster" || word == "shared::cta" || word == "shared"; }

/// The meaning of the words after "bulk" in
/// "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint".
struct BulkOpcode {
  Space destination = Space::shared;
  Space source = Space::shared;
  bool is_multicast = false;
  bool has_policy = false;
  int reduction = 0;  ///< as in Operation::list
};

std::optional<BulkOpcode> parse_copy(const Words& words, std::size_t first, bool reduces) {
  if (words.size() < first + 3) return std::nullopt;
  BulkOpcode opcode;
  const bool to_global = words[first] == "global";
  const bool from_global = words[first + 1] == "global";
  if ((!to_global && !is_shared(words[first])) || (!from_global && !is_shared(words[first + 1]))) return std::nullopt;
  if (to_global && from_global) return std::nullopt;
  opcode.destination = to_global ? Space::global : Space::shared;
  opcode.source = from_global ? Space::global : Space::shared;
  if (words[first + 2] != (to_global ? "bulk_group" : "mbarrier::complete_tx::bytes")) return std::nullopt;
  std::string name;
  for (std::size_t i = first + 3; i < words.size(); ++i) {
    if (words[i] == "L2::cache_hint") {
      opcode.has_policy = true;
    } else if (words[i] == "multicast::cluster" && from_global) {
      opcode.is_multicast = true;
    } else {
      name += fmt::format("{}{}", name.empty() ? "" : ".", words[i]);
    }
  }
  if (!reduces) return name.empty() ? std::optional(opcode) : std::nullopt;
  const int reduction = find_bulk_reduction(name);
  if (reduction == 0 || from_global || (is_bulk_reduction_global(reduction) && !to_global)) return std::nullopt;
  opcode.reduction = reduction;
  return opcode;
}

void decode_copy(InstructionDecoder& decoder, const BulkOpcode& opcode) {
  const auto& operands = decoder.instruction().operands;
  const bool to_global = opcode.destination == Space::global;
  std::size_t next = to_global ? 3 : 4;
  decoder.expect_operands(next + (opcode.is_multicast ? 1 : 0) + (opcode.has_policy ? 1 : 0));
  Operation operation;
  const auto address = [&](const ptx::Operand& operand, Space space) {
    return space == Space::shared ? decoder.shared_address(operand, space) : decoder.whole_address(operand, space);
  };
  operation.operands[0] = address(operands[0], opcode.destination);
  operation.operands[1] = address(operands[1], opcode.source);
  operation.operands[2] = decoder.read(operands[2], 32);
  if (!to_global) operation.operands[3] = decoder.shared_address(operands[3], Space::shared);
  if (opcode.is_multicast) operation.operands[4] = decoder.read(operands[next++], 32);
  operation.detail = opcode.is_multicast ? 1 : 0;
  if (opcode.has_policy) static_cast<void>(decoder.read(operands[next], 64));
  operation.list = opcode.reduction;
  operation.handler = to_global                        ? &copy_in_bulk<Space::global, Space::shared>
                      : opcode.source == Space::global ? &copy_in_bulk<Space::shared, Space::global>
                                                       : &copy_in_bulk<Space::shared, Space::shared>;
  if (to_global && opcode.reduction != 0) decoder.require_block_order();
  decoder.emit(operation);
}

bool decode_wait_group(InstructionDecoder& decoder, const Words& words) {
  const bool sources_only = words.size() == 5 && words[4] == "read";
  if (words.size() != 4 && !sources_only) return false;
  decoder.expect_operands(1);
  const ptx::Operand& left = decoder.instruction().operands[0];
  if (left.kind != ptx::OperandKind::immediate || left.bits > 1U << 30) decoder.fail("expected a number of groups");
  Operation operation;
  operation.handler = wait_group;
  operation.offset = static_cast<std::int64_t>(left.bits);
  operation.detail = sources_only ? 1 : 0;
  decoder.emit(operation);
  return true;
}

bool decode_prefetch(InstructionDecoder& decoder, const Words& words) {
  const bool has_policy = words.size() == 7 && words[6] == "L2::cache_hint";
  if (words.size() < 6 || words[4] != "L2" || words[5] != "global" || (words.size() > 6 && !has_policy)) return false;
  decoder.expect_operands(has_policy ? 3 : 2);
  const auto& operands = decoder.instruction().operands;
  static_cast<void>(decoder.whole_address(operands[0], Space::global));
  static_cast<void>(decoder.read(operands[1], 32));
  decoder.emit(do_nothing, {});
  return true;
}

/// Decodes "st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes{.v4}.b32" and
/// "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32".
bool decode_asynchronous_store(InstructionDecoder& decoder, const Words& words) {
  const bool reduces = words[0] == "red";
  constexpr std::string_view ignored[] = {"weak", "relaxed", "cluster", "shared::cluster",
                                          "mbarrier::complete_tx::bytes"};
  std::string name;
  std::size_t elements = 1;
  std::size_t found = 0;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (std::ranges::find(ignored, words[i]) != std::end(ignored)) {
      found += words[i].find("::") != std::string_view::npos ? 1 : 0;
    } else if (!reduces && (words[i] == "v2" || words[i] == "v4")) {
      elements = static_cast<std::size_t>(words[i][1] - '0');
    } else {
      name += fmt::format("{}{}", name.empty() ? "" : ".", words[i]);
    }
  }
  const auto type = ptx::type_of_suffix(fmt::format(".{}", words.back()));
  const int reduction = reduces ? find_bulk_reduction(name) : 0;
  if (found != 2 || !type || (type->bits != 32 && type->bits != 64)) return false;
  if (reduces ? reduction == 0 || is_bulk_reduction_global(reduction) : name != words.back()) return false;
  decoder.expect_operands(3);
  const auto& operands = decoder.instruction().operands;
  const std::vector<ptx::Operand> single{operands[1]};
  const auto& values = operands[1].kind == ptx::OperandKind::vector ? operands[1].elements : single;
  if (values.size() != elements) decoder.fail(fmt::format("expected {} elements, found {}", elements, values.size()));
  Operation operation;
  operation.handler = store_in_bulk;
  operation.operands[0] = decoder.shared_address(operands[0], Space::shared);
  operation.operands[1] = decoder.shared_address(operands[2], Space::shared);
  for (std::size_t i = 0; i < elements; ++i) operation.operands[2 + i] = decoder.read(values[i], type->bits);
  operation.vector_elements = static_cast<std::uint8_t>(elements);
  operation.detail = type->bytes();
  operation.list = reduction;
  decoder.emit(operation);
  return true;
}

}  // namespace

bool decode_bulk_copy(InstructionDecoder& decoder) {
  if (decode_tensor_copy(decoder)) return true;
  const Words words = ptx::split_opcode(decoder.instruction().opcode);
  if (words.size() > 2 && words[1] == "async" && (words[0] == "st" || words[0] == "red")) {
    return decode_asynchronous_store(decoder, words);
  }
  const bool reduces = words.size() > 4 && words[0] == "cp" && words[1] == "reduce" && words[3] == "bulk";
  const bool copies = words.size() > 3 && words[0] == "cp" && words[1] == "async" && words[2] == "bulk";
  if (!reduces && !copies) return false;
  if (copies && words[3] == "commit_group" && words.size() == 4) {
    decoder.expect_operands(0);
    decoder.emit(commit_group, {});
    return true;
  }
  if (copies && words[3] == "wait_group") return decode_wait_group(decoder, words);
  if (copies && words[3] == "prefetch") return decode_prefetch(decoder, words);
  const auto opcode = parse_copy(words, reduces ? 4 : 3, reduces);
  if (opcode) decode_copy(decoder, *opcode);
  return opcode.has_value();
}

}  // namespace convladder::simulated
