// Instructions about the caches (PTX ISA 9.0, 9.7.9.16 to 9.7.9.21: prefetch, prefetchu, applypriority, discard,
// createpolicy). Here they change neither values nor counts; reads of discarded memory, which are undefined, are not
// found.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "simulator/instructions/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

using Words = std::vector<std::string_view>;

void do_nothing(WarpState& /*warp*/, const Operation& /*operation*/) {}

/// createpolicy: the policy as a number. Its format is NVIDIA's own; these are the numbers that CUTLASS has for whole
/// priorities (include/cute/arch/copy_sm90_desc.hpp), whatever share or range is asked for.
struct Priority {
  std::string_view name;
  std::uint64_t policy;
};
constexpr Priority kPriorities[] = {
    {"L2::evict_normal", 0x1000000000000000U},
    {"L2::evict_first", 0x12F0000000000000U},
    {"L2::evict_last", 0x14F0000000000000U},
    {"L2::evict_unchanged", 0x1000000000000000U},
};

/// The state space after the first word, if one is named; `index` is then moved past it.
ptx::Space space_at(const Words& words, std::size_t& index) {
  constexpr std::pair<std::string_view, ptx::Space> spaces[] = {
      {"global", ptx::Space::global},
      {"local", ptx::Space::local},
      {"param", ptx::Space::param},
      {"const", ptx::Space::constant},
  };
  for (const auto& [name, space] : spaces) {
    if (index < words.size() && words[index] == name) {
      ++index;
      return space;
    }
  }
  return ptx::Space::generic;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Decodes an address, and a number of bytes that can only be 128.
void decode_address_hint(InstructionDecoder& decoder, ptx::Space space, bool has_bytes) {
  decoder.expect_operands(has_bytes ? 2 : 1);
  const auto& operands = decoder.instruction().operands;
  Operation operation;
  static_cast<void>(decoder.address(operands[0], space, operation));
  if (has_bytes && (operands[1].kind != ptx::OperandKind::immediate || operands[1].bits != 128)) {
    decoder.fail("the size must be 128");
  }
  decoder.emit(do_nothing, {});
}

bool decode_prefetch(InstructionDecoder& decoder, const Words& words) {
  std::size_t next = 1;
  const ptx::Space space = space_at(words, next);
  if (next + 1 != words.size()) return false;
  const std::string_view level = words[next];
  const bool known = words[0] == "prefetchu"
                         ? level == "L1" && space == ptx::Space::generic
                         : is_one_of(level, {"L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap"});
  if (known) decode_address_hint(decoder, space, false);
  return known;
}

bool decode_priority(InstructionDecoder& decoder, const Words& words) {
  std::size_t next = 1;
  const ptx::Space space = space_at(words, next);
  const std::string_view level = words[0] == "discard" ? "L2" : "L2::evict_normal";
  if (next + 1 != words.size() || words[next] != level) return false;
  decode_address_hint(decoder, space, true);
  return true;
}

/// Decodes
/// "createpolicy.fractional.L2::evict_last{.L2::evict_unchanged}.b64 d{, share}",
/// "createpolicy.range{.global}.L2::evict_last{.L2::evict_first}.b64 d, [address], primary bytes, bytes",
/// "createpolicy.cvt.L2.b64 d, property".
bool decode_policy(InstructionDecoder& decoder, const Words& words) {
  if (words.size() < 4 || words.back() != "b64") return false;
  const auto& operands = decoder.instruction().operands;
  if (words[1] == "cvt") {
    if (words.size() != 4 || words[2] != "L2") return false;
    decoder.expect_operands(2);
    Operation move;
    move.operands[1] = decoder.read(operands[1], 64);
    move.operands[0] = decoder.write(operands[0], 64);
    move.handler = [](WarpState& warp, const Operation& operation) {
      const auto* const from = warp.read<std::uint64_t>(operation.operands[1]);
      write_lanes(warp.write<std::uint64_t>(operation.operands[0]), warp.mask, [=](int lane) { return from[lane]; });
    };
    decoder.emit(move);
    return true;
  }
  std::size_t next = 2;
  const bool is_range = words[1] == "range";
  if (!is_range && words[1] != "fractional") return false;
  const ptx::Space space = is_range ? space_at(words, next) : ptx::Space::generic;
  const auto* const primary = std::ranges::find(kPriorities, words[next], &Priority::name);
  if (primary == std::end(kPriorities)) return false;
  const bool has_secondary =
      next + 3 == words.size() && is_one_of(words[next + 1], {"L2::evict_first", "L2::evict_unchanged"});
  if (next + (has_secondary ? 3 : 2) != words.size()) return false;
  Operation operation;
  if (is_range) {
    decoder.expect_operands(4);
    static_cast<void>(decoder.address(operands[1], space, operation));
    for (const std::size_t i : {2, 3}) static_cast<void>(decoder.read(operands[i], 32));
  } else {
    if (operands.size() != 1) decoder.expect_operands(2);
    if (operands.size() == 2) static_cast<void>(decoder.read(operands[1], 32));
  }
  operation = {};
  operation.operands[0] = decoder.write(operands[0], 64);
  operation.offset = static_cast<std::int64_t>(primary->policy);
  operation.handler = [](WarpState& warp, const Operation& policy) {
    const auto value = static_cast<std::uint64_t>(policy.offset);
    write_lanes(warp.write<std::uint64_t>(policy.operands[0]), warp.mask, [=](int /*lane*/) { return value; });
  };
  decoder.emit(operation);
  return true;
}

}  // namespace

bool decode_cache_control(InstructionDecoder& decoder) {
  const Words words = ptx::split_opcode(decoder.instruction().opcode);
  if (words[0] == "prefetch" || words[0] == "prefetchu") return decode_prefetch(decoder, words);
  if (words[0] == "applypriority" || words[0] == "discard") return decode_priority(decoder, words);
  return words[0] == "createpolicy" && decode_policy(decoder, words);
}

}  // namespace convladder::simulated
