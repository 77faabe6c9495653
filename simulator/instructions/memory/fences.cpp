// Memory ordering (PTX ISA 9.0, 9.7.13.4: membar, fence). Accesses take effect at once here, so a fence has nothing
// to do but inform observers.

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {
namespace {

using Words = std::vector<std::string_view>;

void do_nothing(WarpState& /*warp*/, const Operation& /*operation*/) {}

template <bool kForOtherBlocks>
void fence(WarpState& warp, const Operation& operation) {
  for (AccessObserver* const observer : warp.block->observers) observer->fenced(warp, operation, kForOtherBlocks);
}

/// Bits of Operation::detail.
enum ProxyDetail { kShared = 1, kGlobal = 2, kReleasesMaps = 4 };

void fence_proxies(WarpState& warp, const Operation& operation) {
  ProxyFence fence;
  fence.shared = (operation.detail & kShared) != 0;
  fence.global = (operation.detail & kGlobal) != 0;
  fence.releases_maps = (operation.detail & kReleasesMaps) != 0;
  for (AccessObserver* const observer : warp.block->observers) observer->proxy_fenced(warp, operation, fence);
}

/// Operand: the tensor map's address.
void acquire_map(WarpState& warp, const Operation& operation) {
  if (warp.block->observers.empty()) return;
  const auto* const maps = warp.read<std::uint64_t>(operation.operands[0]);
  WarpState lanes = warp;
  for (LaneMask left = warp.mask; left != 0; left &= ~lanes.mask) {
    ProxyFence fence;
    fence.acquires_map = true;
    fence.map = maps[std::countr_zero(left)];
    lanes.mask = 0;
    for_each_lane(left, [&](int lane) { lanes.mask |= LaneMask{maps[lane] == fence.map} << lane; });
    for (AccessObserver* const observer : warp.block->observers) observer->proxy_fenced(lanes, operation, fence);
  }
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Decodes "membar.gl", "fence.acq_rel.gpu", "fence.acquire.sync_restrict::shared::cluster.cluster": fences between
/// threads of this block or of all blocks.
bool decode_thread_fence(InstructionDecoder& decoder, const Words& words) {
  const bool is_membar = words[0] == "membar" && words.size() == 2;
  const bool is_restricted = words.size() == 4 && is_one_of(words[1], {"acquire", "release"}) &&
                             words[2].starts_with("sync_restrict::shared::");
  const bool is_plain =
      words.size() == 2 || (words.size() == 3 && is_one_of(words[1], {"sc", "acq_rel", "acquire", "release"}));
  if (!is_membar && (words[0] != "fence" || (!is_plain && !is_restricted))) return false;
  const bool for_others = is_one_of(words.back(), {"gl", "cluster", "gpu", "sys"});
  if (!for_others && words.back() != "cta") return false;
  decoder.expect_operands(0);
  // A block that makes writes visible to others has others that read them.
  if (for_others && !is_restricted) decoder.require_block_order();
  decoder.emit(for_others ? fence<true> : fence<false>, {});
  return true;
}

/// Decodes "fence.proxy.async", "fence.proxy.tensormap::generic.acquire.gpu [address], 128",
/// "fence.mbarrier_init.release.cluster".
bool decode_proxy_fence(InstructionDecoder& decoder, const Words& words) {
  const std::string_view opcode = decoder.instruction().opcode;
  const auto& operands = decoder.instruction().operands;
  Operation operation;
  operation.handler = fence_proxies;
  if (words.size() > 2 && words[2] == "tensormap::generic") {
    if (words.size() != 5 || !is_one_of(words[3], {"acquire", "release"})) return false;
    const bool acquires = words[3] == "acquire";
    decoder.expect_operands(acquires ? 2 : 0);
    if (acquires) {
      operation.handler = acquire_map;
      operation.operands[0] = decoder.whole_address(operands[0], ptx::Space::generic);
    } else {
      operation.detail = kReleasesMaps;
    }
    decoder.emit(operation);
    return true;
  }
  if (words.size() > 2 && words[2] == "async::generic") {
    if (words.size() != 6 || !words[4].starts_with("sync_restrict::shared::")) return false;
    operation.detail = kShared;
  } else if (opcode == "fence.proxy.async") {
    operation.detail = kShared | kGlobal;
  } else if (opcode == "fence.proxy.async.global") {
    operation.detail = kGlobal;
  } else if (is_one_of(opcode, {"fence.proxy.async.shared::cta", "fence.proxy.async.shared::cluster"})) {
    operation.detail = kShared;
  } else if (is_one_of(opcode, {"fence.proxy.alias", "membar.proxy.alias", "fence.mbarrier_init.release.cluster"})) {
    operation.handler = do_nothing;
  } else {
    return false;
  }
  decoder.expect_operands(0);
  decoder.emit(operation);
  return true;
}

}  // namespace

bool decode_fence(InstructionDecoder& decoder) {
  const Words words = ptx::split_opcode(decoder.instruction().opcode);
  if ((words[0] != "fence" && words[0] != "membar") || words.size() < 2) return false;
  if (words[1] == "proxy" || words[1] == "mbarrier_init") return decode_proxy_fence(decoder, words);
  return decode_thread_fence(decoder, words);
}

}  // namespace convladder::simulated
