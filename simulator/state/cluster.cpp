#include "simulator/state/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

namespace convladder::simulated {
namespace {

constexpr std::uint64_t kOffsetBits = (std::uint64_t{1} << kRankShift) - 1;

/// Kinds of faults in addition to those of other accesses.
enum Fault { kNoSuchBlock = 130, kOwnOnly, kHasEnded, kOutOfBounds };

/// Whether only the own block's memory is meant: "ld.shared.u32", "ld.shared::cta.u32", "st.bulk", and wgmma, whose
/// descriptors have no place for a rank.
bool means_own_block(const ptx::Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  for (const char* word : {".shared::cluster", ".multicast::cluster"}) {
    if (opcode.find(word) != std::string_view::npos) return false;
  }
  return opcode.starts_with("st.bulk") || opcode.starts_with("wgmma.") ||
         opcode.find(".shared.") != std::string_view::npos || opcode.find(".shared::cta") != std::string_view::npos;
}

struct Problem {
  Fault kind = kNoSuchBlock;
  std::string text;  ///< empty: none
};

Problem problem_of(const WarpState& warp, const Operation& operation, const SharedPlace& place, std::uint64_t bytes) {
  const BlockContext& block = *warp.block;
  if (place.owner == nullptr) return {kNoSuchBlock, "an address of no block of the cluster"};
  const auto of_rank = [&place] { return fmt::format("block {} of the cluster", place.owner->rank); };
  if (place.owner != &block && means_own_block(block.program->kernel->instructions[operation.instruction])) {
    return {kOwnOnly, fmt::format("the address lies in {}, but the instruction reaches only its own block", of_rank())};
  }
  if (place.owner->has_ended) return {kHasEnded, fmt::format("shared memory of {}, which has exited", of_rank())};
  const std::uint64_t size = place.owner->shared.size();
  if (place.offset <= size && bytes <= size - place.offset) return {};
  return {kOutOfBounds, fmt::format("offset {} of {} bytes of shared memory of {}", place.offset, size, of_rank())};
}

void report(const WarpState& warp, const Operation& operation, int lane, std::uint64_t address, const Problem& problem,
            std::uint64_t bytes, AccessKind kind) {
  const char* const verb = kind == AccessKind::load ? "read" : kind == AccessKind::store ? "write" : "atomic access";
  warp.block->fault(warp, operation, Checker::memory, problem.kind, LaneMask{1} << lane, [&](int at) {
    Finding finding = warp.block->finding_at(warp, operation, at, Checker::memory,
                                             fmt::format("{} of {} bytes: {}", verb, bytes, problem.text));
    finding.space = "shared";
    finding.address = address;
    return finding;
  });
}

}  // namespace

SharedPlace shared_place(BlockContext& block, std::uint64_t address) {
  if (block.cluster == nullptr) return {&block, address};
  const std::uint64_t rank = address >> kRankShift;
  if (rank >= block.cluster->blocks.size()) return {};
  return {block.cluster->blocks[rank], address & kOffsetBits};
}

SharedPlace shared_place(BlockContext& block, const Operation& operation, std::uint64_t address) {
  const bool has_rank = block.rank == 0 || address >> kRankShift != 0;
  if (has_rank || !means_own_block(block.program->kernel->instructions[operation.instruction])) {
    return shared_place(block, address);
  }
  return {&block, address};
}

bool make_own_offsets(const BlockContext& block, const Operation& operation, std::span<std::uint64_t> addresses) {
  bool all_have_rank = true;
  bool any_other = false;
  for (const std::uint64_t address : addresses) {
    const std::uint64_t rank = address >> kRankShift;
    all_have_rank = all_have_rank && rank == block.rank;
    any_other = any_other || (rank != block.rank && rank != 0);
  }
  if (any_other) return false;
  if (!all_have_rank && !means_own_block(block.program->kernel->instructions[operation.instruction])) return false;
  for (std::uint64_t& address : addresses) address &= kOffsetBits;
  return true;
}

LaneMask reach_cluster(const WarpState& warp, const Operation& operation, const Addresses& addresses, LaneMask mask,
                       int bytes, AccessKind kind, std::array<std::byte*, kLanes>& at) {
  std::array<SharedPlace, kLanes> places;
  const auto length = static_cast<std::uint64_t>(bytes);
  LaneMask right = 0;
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    places[lane] = shared_place(*warp.block, operation, addresses[lane]);
    if (const Problem problem = problem_of(warp, operation, places[lane], length); !problem.text.empty()) {
      report(warp, operation, lane, addresses[lane], problem, length, kind);
      continue;
    }
    right |= LaneMask{1} << lane;
    at[lane] = places[lane].owner->shared.data() + places[lane].offset;
  }
  if (right == 0) return 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (((right >> lane) & 1U) == 0) at[lane] = at[std::countr_zero(right)];
  }
  for (LaneMask left = warp.block->observers.empty() ? 0 : right; left != 0;) {
    BlockContext* const owner = places[std::countr_zero(left)].owner;
    LaneMask same = 0;
    Addresses offsets{};
    for (int lane = 0; lane < kLanes; ++lane) {
      if (((left >> lane) & 1U) == 0 || places[lane].owner != owner) continue;
      same |= LaneMask{1} << lane;
      offsets[lane] = places[lane].offset;
    }
    left &= ~same;
    for (AccessObserver* const observer : warp.block->observers) {
      observer->access({&operation, &warp, ptx::Space::shared, &offsets, same, bytes, kind, owner});
    }
  }
  return right;
}

std::byte* reach_in_cluster(const WarpState& warp, const Operation& operation, int lane, std::uint64_t address,
                            std::uint64_t bytes, AccessKind kind) {
  const SharedPlace place = shared_place(*warp.block, operation, address);
  const Problem problem = problem_of(warp, operation, place, bytes);
  if (place.owner != nullptr && problem.text.empty()) return place.owner->shared.data() + place.offset;
  report(warp, operation, lane, address, problem, bytes, kind);
  return nullptr;
}

}  // namespace convladder::simulated
