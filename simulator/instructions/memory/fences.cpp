// Memory ordering (PTX ISA 9.0, 9.7.13.4: membar, fence). Accesses take effect at once here, so a fence has nothing
// to do but inform observers. Of the fences between proxies they are told of those that show shared memory to
// asynchronous copies and products; the others order accesses that the simulated device does not distinguish.

#include <algorithm>
#include <optional>
#include <string_view>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {
namespace {

using Words = std::vector<std::string_view>;

void do_nothing(WarpState& /*warp*/, const Operation& /*operation*/) {}

template <bool kForOtherBlocks>
void fence(WarpState& warp, const Operation& /*operation*/) {
  for (AccessObserver* const observer : warp.block->observers) observer->fenced(warp, kForOtherBlocks);
}

void fence_for_asynchronous(WarpState& warp, const Operation& /*operation*/) {
  for (AccessObserver* const observer : warp.block->observers) observer->shown_to_asynchronous(warp);
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
  std::size_t operands = 0;
  if (words.size() > 2 && words[2] == "tensormap::generic") {
    if (words.size() != 5 || !is_one_of(words[3], {"acquire", "release"})) return false;
    operands = words[3] == "acquire" ? 2 : 0;
  } else if (words.size() > 2 && words[2] == "async::generic") {
    if (words.size() != 6 || !words[4].starts_with("sync_restrict::shared::")) return false;
  } else if (!is_one_of(opcode, {"fence.proxy.alias", "fence.proxy.async", "fence.proxy.async.global",
                                 "fence.proxy.async.shared::cta", "fence.proxy.async.shared::cluster",
                                 "membar.proxy.alias", "fence.mbarrier_init.release.cluster"})) {
    return false;
  }
  decoder.expect_operands(operands);
  const bool is_for_asynchronous = words.size() > 2 && words[2].starts_with("async") && words.back() != "global";
  decoder.emit(is_for_asynchronous ? fence_for_asynchronous : do_nothing, {});
  return true;
}

}  // namespace

bool decode_fence(InstructionDecoder& decoder) {
  const Words words = split_opcode(decoder.instruction().opcode);
  if ((words[0] != "fence" && words[0] != "membar") || words.size() < 2) return false;
  if (words[1] == "proxy" || words[1] == "mbarrier_init") return decode_proxy_fence(decoder, words);
  return decode_thread_fence(decoder, words);
}

}  // namespace convladder::simulated
