// Clusters of blocks (PTX ISA 9.0, 9.7.9.23, 9.7.9.24: mapa, getctarank; 9.7.13.3: barrier.cluster). A block is alone
// in its cluster here: in kernels that ask for larger ones these instructions are refused when they are decoded.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "devices/simulated/instructions/instruction_decoder.hpp"
#include "devices/simulated/state/block_barriers.hpp"
#include "devices/simulated/state/block_context.hpp"

namespace convladder::simulated {
namespace {

using Words = std::vector<std::string_view>;

constexpr int kNoSuchBlock = 130;  // a kind of fault beside those of accesses

/// d = a, for the block of rank b. Operands: d, a, b.
template <typename T>
void map_address(WarpState& warp, const Operation& operation) {
  const T* const addresses = warp.read<T>(operation.operands[1]);
  const auto* const ranks = warp.read<std::uint32_t>(operation.operands[2]);
  LaneMask wrong = 0;
  for (int lane = 0; lane < kLanes; ++lane) wrong |= LaneMask{ranks[lane] != 0} << lane;
  wrong &= warp.mask;
  if (wrong != 0) {
    warp.block->fault(warp, operation, Checker::memory, kNoSuchBlock, wrong, [&](int lane) {
      return warp.block->finding_at(warp, operation, lane, Checker::memory,
                                    fmt::format("block {} of a cluster of one block", ranks[lane]));
    });
  }
  write_lanes(warp.write<T>(operation.operands[0]), warp.mask, [=](int lane) { return addresses[lane]; });
}

void rank_of_address(WarpState& warp, const Operation& operation) {
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask, [](int /*lane*/) { return 0U; });
}

/// "mapa{.shared::cluster}.u32", "getctarank{.shared::cluster}.u64".
bool decode_mapping(InstructionDecoder& decoder, const Words& words) {
  const bool maps = words[0] == "mapa";
  const bool names_space = words.size() == 3 && words[1] == "shared::cluster";
  if ((words.size() != 2 && !names_space) || (words.back() != "u32" && words.back() != "u64")) return false;
  const int bits = words.back() == "u32" ? 32 : 64;
  decoder.expect_operands(maps ? 3 : 2);
  const auto& operands = decoder.instruction().operands;
  const Slot address = decoder.read(operands[1], bits);
  if (maps) {
    const Slot rank = decoder.read(operands[2], 32);
    decoder.emit(bits == 32 ? map_address<std::uint32_t> : map_address<std::uint64_t>,
                 {decoder.write(operands[0], bits), address, rank});
  } else {
    decoder.emit(rank_of_address, {decoder.write(operands[0], 32), address});
  }
  return true;
}

/// "barrier.cluster.arrive{.release}{.aligned}", "barrier.cluster.wait{.acquire}{.aligned}".
bool decode_cluster_barrier(InstructionDecoder& decoder, const Words& words) {
  const bool arrives = words[2] == "arrive";
  if (!arrives && words[2] != "wait") return false;
  for (std::size_t i = 3; i < words.size(); ++i) {
    const bool known =
        words[i] == "aligned" || (arrives ? words[i] == "release" || words[i] == "relaxed" : words[i] == "acquire");
    if (!known) return false;
  }
  decoder.expect_operands(0);
  Operation operation;
  operation.kind = OperationKind::barrier;
  operation.detail = static_cast<int>(arrives ? BarrierAction::arrive : BarrierAction::wait_without_arriving);
  operation.offset = BlockBarriers::kOfCluster;  // no number that a kernel can name
  operation.operands[0] = decoder.constant(BlockBarriers::kOfCluster, 32);
  operation.operands[1] = decoder.constant(0, 32);
  operation.vector_elements = 0;
  decoder.emit(operation);
  return true;
}

}  // namespace

bool decode_cluster(InstructionDecoder& decoder) {
  const Words words = split_opcode(decoder.instruction().opcode);
  const bool is_barrier = words.size() > 2 && words[0] == "barrier" && words[1] == "cluster";
  if (words[0] == "mapa" || words[0] == "getctarank") return decode_mapping(decoder, words);
  return is_barrier && decode_cluster_barrier(decoder, words);
}

}  // namespace convladder::simulated
