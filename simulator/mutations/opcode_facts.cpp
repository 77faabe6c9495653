#include "simulator/mutations/opcode_facts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "simulator/ptx/opcode_parts.hpp"

namespace convladder::simulated {
namespace {

using ptx::has_part;
using ptx::Operand;
using ptx::OperandKind;

/// Whether an access reaches global memory: by its space, or because it names none.
bool is_global_or_generic(const std::vector<std::string_view>& parts) {
  constexpr std::array<std::string_view, 6> kOthers = {"shared", "local",       "param",
                                                       "const",  "shared::cta", "shared::cluster"};
  if (has_part(parts, "global")) return true;
  return std::ranges::none_of(parts, [&](std::string_view part) {
    return std::ranges::any_of(kOthers, [&](std::string_view other) { return part.starts_with(other); });
  });
}

bool is_private(const std::vector<std::string_view>& parts) {
  return std::ranges::any_of(parts, [](std::string_view part) { return part == "local" || part.starts_with("param"); });
}

/// Whether a bulk copy goes to global memory: its first space is that of the destination.
bool is_bulk_store(const std::vector<std::string_view>& parts) {
  if (parts.size() < 4 || parts[0] != "cp" || !has_part(parts, "async") || !has_part(parts, "bulk")) return false;
  const auto space =
      std::ranges::find_if(parts, [](std::string_view part) { return part == "global" || part.starts_with("shared"); });
  return space != parts.end() && *space == "global" && !has_part(parts, "prefetch");
}

}  // namespace

std::optional<ptx::Type> result_type(const ptx::Instruction& instruction) {
  const std::vector<std::string_view> parts = ptx::split_opcode(instruction.opcode);
  const std::vector<ptx::Type> types = ptx::types_in(parts);
  if (types.empty()) return std::nullopt;
  const bool is_first = parts[0] == "cvt" || parts[0] == "mma" || parts[0] == "wmma" || parts[0] == "wgmma";
  return is_first ? types.front() : types.back();
}

std::optional<StoreFacts> store_facts(const ptx::Instruction& instruction) {
  const std::vector<std::string_view> parts = ptx::split_opcode(instruction.opcode);
  const auto operand = [&](std::size_t index) -> const Operand* {
    return index < instruction.operands.size() ? &instruction.operands[index] : nullptr;
  };
  const auto facts = [&](std::size_t address, std::size_t value) -> std::optional<StoreFacts> {
    StoreFacts found{.address = operand(address), .value = operand(value), .is_global = is_global_or_generic(parts)};
    found.value_index = value;
    if (found.address == nullptr || found.address->kind != OperandKind::address) return std::nullopt;
    return found;
  };
  if (is_private(parts)) return std::nullopt;
  const std::string_view first = parts[0];
  if ((first == "st" && !has_part(parts, "bulk")) || first == "stmatrix" ||
      (first == "wmma" && has_part(parts, "store"))) {
    return facts(0, 1);
  }
  if ((first == "red" && !has_part(parts, "async")) || first == "atom") {
    auto found = first == "red" ? facts(0, 1) : facts(1, 2);
    if (!found) return std::nullopt;
    found->is_atomic = true;
    found->is_sum = has_part(parts, "add");
    return found;
  }
  if (is_bulk_store(parts)) {
    StoreFacts found;
    found.address = operand(0);
    found.is_global = true;
    if (found.address != nullptr && found.address->kind == OperandKind::address) return found;
  }
  return std::nullopt;
}

std::optional<LoadFacts> load_facts(const ptx::Instruction& instruction) {
  const std::vector<std::string_view> parts = ptx::split_opcode(instruction.opcode);
  const auto at = [&](std::size_t index, int bytes) -> std::optional<LoadFacts> {
    if (index >= instruction.operands.size() || bytes == 0) return std::nullopt;
    const Operand& address = instruction.operands[index];
    if (address.kind != OperandKind::address || address.index < 0) return std::nullopt;
    return LoadFacts{index, bytes};
  };
  if ((parts[0] == "ld" || parts[0] == "ldu") && !is_private(parts) && is_global_or_generic(parts)) {
    return at(1, ptx::moved_bytes(parts));
  }
  const bool copies =
      parts[0] == "cp" && has_part(parts, "async") && has_part(parts, "global") && !has_part(parts, "bulk");
  if (copies && instruction.operands.size() > 2 && instruction.operands[2].kind == OperandKind::immediate) {
    return at(1, static_cast<int>(instruction.operands[2].bits));
  }
  return std::nullopt;
}

bool writes(const ptx::Instruction& instruction, int reg) {
  const std::vector<int> results = ptx::result_registers(instruction);
  return reg >= 0 && std::ranges::find(results, reg) != results.end();
}

}  // namespace convladder::simulated
