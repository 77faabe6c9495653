#include "simulator/instructions/memory/atomic_opcode.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/instructions/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

/// Whether a word says nothing where accesses take effect at once; the race checker reads such words itself.
bool is_order_or_scope(std::string_view word) {
  constexpr std::string_view words[] = {"relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys"};
  return std::ranges::find(words, word) != std::end(words);
}

}  // namespace

std::optional<AtomicOpcode> parse_atomic(std::string_view text) {
  const std::vector<std::string_view> parts = ptx::split_opcode(text);
  if (parts[0] != "atom" && parts[0] != "red") return std::nullopt;
  AtomicOpcode opcode;
  opcode.returns = parts[0] == "atom";
  std::string_view operation;
  std::string_view type;
  bool keeps_subnormals = false;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part == "global") {
      opcode.space = ptx::Space::global;
    } else if (part == "shared" || part == "shared::cta" || part == "shared::cluster") {  // memory of one block
      opcode.space = ptx::Space::shared;
    } else if (part == "v2" || part == "v4" || part == "v8") {
      opcode.vector_elements = part[1] - '0';
    } else if (part == "noftz") {
      keeps_subnormals = true;
    } else if (part == "L2::cache_hint") {
      opcode.has_policy = true;
    } else if (is_order_or_scope(part)) {
      continue;
    } else if (part == "bf16" || part == "bf16x2" || ptx::type_of_suffix(fmt::format(".{}", part))) {
      if (!type.empty()) return std::nullopt;
      type = part;
    } else {
      if (!operation.empty()) return std::nullopt;
      operation = part;
    }
  }
  if (operation.empty() || type.empty()) return std::nullopt;
  opcode.name = fmt::format("{}{}.{}", operation, keeps_subnormals ? ".noftz" : "", type);
  return opcode;
}

}  // namespace convladder::simulated
