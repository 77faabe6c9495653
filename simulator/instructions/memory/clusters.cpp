// Clusters of blocks (PTX ISA 9.0, 9.7.9.23, 9.7.9.24: mapa, getctarank; 9.7.13.3: barrier.cluster).

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/state/block_barriers.hpp"
#include "simulator/state/block_context.hpp"
#include "simulator/state/cluster.hpp"

namespace convladder::simulated {
namespace {

using Words = std::vector<std::string_view>;

constexpr int kNoSuchBlock = 130;  // a kind of fault in addition to those of accesses

/// The block to which an address in shared::cluster belongs, as seen from a block.
template <typename T>
SharedPlace place_of(const WarpState& warp, const Operation& operation, T address) {
  return shared_place(*warp.block, static_cast<std::uint64_t>(address) - static_cast<std::uint64_t>(operation.offset));
}

/// d = the address a in the block of rank b. Operands: d, a, b; `offset` is where shared memory begins.
template <typename T>
void map_address(WarpState& warp, const Operation& operation) {
  const T* const addresses = warp.read<T>(operation.operands[1]);
  const auto* const ranks = warp.read<std::uint32_t>(operation.operands[2]);
  const BlockContext& block = *warp.block;
  const std::uint64_t blocks = block.cluster == nullptr ? 1 : block.cluster->blocks.size();
  LaneMask wrong = 0;
  for (int lane = 0; lane < kLanes; ++lane) wrong |= LaneMask{ranks[lane] >= blocks} << lane;
  wrong &= warp.mask;
  if (wrong != 0) {
    block.fault(warp, operation, Checker::memory, kNoSuchBlock, wrong, [&](int lane) {
      return block.finding_at(warp, operation, lane, Checker::memory,
                              fmt::format("block {} of a cluster of {}", ranks[lane],
                                          blocks == 1 ? "one block" : fmt::format("{} blocks", blocks)));
    });
  }
  write_lanes(warp.write<T>(operation.operands[0]), warp.mask, [&](int lane) {
    if (((wrong >> lane) & 1U) != 0) return addresses[lane];
    const std::uint64_t offset = place_of(warp, operation, addresses[lane]).offset;
    return static_cast<T>(cluster_address(ranks[lane], offset) + static_cast<std::uint64_t>(operation.offset));
  });
}

template <typename T>
void rank_of_address(WarpState& warp, const Operation& operation) {
  const T* const addresses = warp.read<T>(operation.operands[1]);
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask, [&](int lane) {
    const SharedPlace place = place_of(warp, operation, addresses[lane]);
    return place.owner == nullptr ? 0 : place.owner->rank;
  });
}

/// Decodes "mapa{.shared::cluster}.u32", "getctarank{.shared::cluster}.u64".
bool decode_mapping(InstructionDecoder& decoder, const Words& words) {
  const bool maps = words[0] == "mapa";
  const bool names_space = words.size() == 3 && words[1] == "shared::cluster";
  if ((words.size() != 2 && !names_space) || (words.back() != "u32" && words.back() != "u64")) return false;
  const int bits = words.back() == "u32" ? 32 : 64;
  decoder.expect_operands(maps ? 3 : 2);
  const auto& operands = decoder.instruction().operands;
  const Slot address = decoder.read(operands[1], bits);
  Operation operation;
  operation.operands[1] = address;
  if (maps) operation.operands[2] = decoder.read(operands[2], 32);
  operation.operands[0] = decoder.write(operands[0], maps ? bits : 32);
  if (!names_space) operation.offset = static_cast<std::int64_t>(kSharedWindow);  // a generic address
  operation.handler = maps ? (bits == 32 ? &map_address<std::uint32_t> : &map_address<std::uint64_t>)
                           : (bits == 32 ? &rank_of_address<std::uint32_t> : &rank_of_address<std::uint64_t>);
  decoder.emit(operation);
  return true;
}

/// Decodes "barrier.cluster.arrive{.release}{.aligned}", "barrier.cluster.wait{.acquire}{.aligned}".
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
  operation.target = std::ranges::find(words, "aligned") == words.end() ? Operation::kEachThread : 0;
  operation.offset = BlockBarriers::kOfCluster;  // a number that a kernel cannot name
  operation.operands[0] = decoder.constant(BlockBarriers::kOfCluster, 32);
  operation.operands[1] = decoder.constant(0, 32);
  operation.vector_elements = 0;
  decoder.emit(operation);
  return true;
}

}  // namespace

bool decode_cluster(InstructionDecoder& decoder) {
  const Words words = ptx::split_opcode(decoder.instruction().opcode);
  const bool is_barrier = words.size() > 2 && words[0] == "barrier" && words[1] == "cluster";
  if (words[0] == "mapa" || words[0] == "getctarank") return decode_mapping(decoder, words);
  return is_barrier && decode_cluster_barrier(decoder, words);
}

}  // namespace convladder::simulated
