// st.bulk: fills a stretch of shared memory with zeros (PTX ISA 9.0, 9.7.9.13).

#include <fmt/format.h>

#include <cstring>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/memory/bulk_write.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {

using ptx::Space;

namespace {

constexpr int kBadSize = 128;  // a kind of fault in addition to those of accesses
constexpr std::uint64_t kUnit = 8;
constexpr std::uint64_t kMostBytes = 16777216;

/// Operands: address, bytes.
void fill_with_zeros(WarpState& warp, const Operation& operation) {
  BlockContext& block = *warp.block;
  for_each_lane(warp.mask, [&](int lane) {
    const std::uint64_t address = warp.read<std::uint64_t>(operation.operands[0])[lane];
    const std::uint64_t bytes = warp.read<std::uint64_t>(operation.operands[1])[lane];
    if (bytes % kUnit != 0 || bytes > kMostBytes) {
      return block.fault(warp, operation, Checker::memory, kBadSize, LaneMask{1} << lane, [&](int at) {
        return block.finding_at(warp, operation, at, Checker::memory,
                                fmt::format("zeros for {} bytes; multiples of 8 up to 2^24 are possible", bytes));
      });
    }
    ++block.counters[operation.instruction].requests;
    block.counters[operation.instruction].bytes += bytes;
    if (bytes == 0) return;
    std::byte* const at =
        reach_region(warp, operation, lane, {Space::shared, address, bytes, kUnit}, AccessKind::store);
    if (at == nullptr) return;
    std::memset(at, 0, bytes);
    ++block.memory_changes;
    const SharedPlace place = shared_place(block, operation, address);
    Addresses addresses;
    addresses.fill(place.offset);
    for (AccessObserver* const observer : block.observers) {
      observer->access({&operation, &warp, Space::shared, &addresses, LaneMask{1} << lane, static_cast<int>(bytes),
                        AccessKind::store, place.owner});
    }
  });
}

}  // namespace

bool decode_bulk_initialization(InstructionDecoder& decoder) {
  std::string_view opcode = decoder.instruction().opcode;
  if (!opcode.starts_with("st.bulk")) return false;
  opcode.remove_prefix(std::string_view("st.bulk").size());
  if (opcode.starts_with(".weak")) opcode.remove_prefix(std::string_view(".weak").size());
  if (!opcode.empty() && opcode != ".shared::cta") return false;
  decoder.expect_operands(3);
  const auto& operands = decoder.instruction().operands;
  if (operands[2].kind != ptx::OperandKind::immediate || operands[2].bits != 0) decoder.fail("only zeros are possible");
  const bool is_narrow = operands[1].kind == ptx::OperandKind::register_ && decoder.register_bits(operands[1]) == 32;
  const Slot address = decoder.shared_address(operands[0], opcode.empty() ? Space::generic : Space::shared);
  decoder.emit(fill_with_zeros,
               {address, is_narrow ? decoder.widened(decoder.read(operands[1], 32)) : decoder.read(operands[1], 64)});
  return true;
}

}  // namespace convladder::simulated
