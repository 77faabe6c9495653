// The words of loads and stores (PTX ISA 9.0, 9.7.9.8 to 9.7.9.12).

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/memory/memory_access.hpp"

namespace convladder::simulated {
namespace {

using ptx::Space;

constexpr std::pair<std::string_view, Space> kSpaces[] = {
    {"global", Space::global}, {"shared", Space::shared},          {"shared::cta", Space::shared},
    {"local", Space::local},   {"shared::cluster", Space::shared}, {"const", Space::constant},
    {"param", Space::param},   {"param::entry", Space::param},
};
constexpr std::pair<std::string_view, MemoryOrder> kOrders[] = {
    {"weak", MemoryOrder::weak},       {"relaxed", MemoryOrder::relaxed}, {"volatile", MemoryOrder::relaxed},
    {"acquire", MemoryOrder::acquire}, {"release", MemoryOrder::release}, {"acq_rel", MemoryOrder::acquire_release},
    {"mmio", MemoryOrder::relaxed},
};
constexpr std::string_view kScopes[] = {"cta", "cluster", "gpu", "sys"};

/// Whether the modifier is a hint for caches, which changes no value here.
bool is_hint(std::string_view modifier) {
  constexpr std::string_view hints[] = {"nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt"};
  return std::ranges::find(hints, modifier) != std::end(hints) || modifier.starts_with("L1::") ||
         modifier.starts_with("L2::");
}

template <typename Table>
auto find_word(const Table& table, std::string_view word) {
  const auto* const found = std::ranges::find(table, word, [](const auto& entry) { return entry.first; });
  return found == std::end(table) ? nullptr : found;
}

/// The order of an access to an mbarrier: an arrival releases, unless it says that it does not. A wait acquires only
/// when it finds that a phase has ended.
MemoryOrder mbarrier_order(const std::vector<std::string_view>& parts) {
  if (parts.size() < 2 || parts[1] == "init" || parts[1] == "inval") return MemoryOrder::weak;
  const bool is_arrival = parts[1] == "arrive" || parts[1] == "arrive_drop";
  const bool is_relaxed = std::ranges::find(parts, "relaxed") != parts.end();
  return is_arrival && !is_relaxed ? MemoryOrder::release : MemoryOrder::relaxed;
}

/// Whether the access is a possible vector: at most 16 bytes, or 32 in global memory.
bool is_vector(const MemoryAccess& access) {
  const int bytes = access.vector_elements * access.type.bytes();
  const bool may_have_32 = access.space == Space::global || access.space == Space::generic;
  if (access.vector_elements == 8) return access.type.bits == 32 && may_have_32;
  return bytes <= 16 || (bytes == 32 && access.vector_elements == 4 && !access.is_128_bit && may_have_32);
}

}  // namespace

std::optional<MemoryAccess> parse_memory_access(std::string_view opcode) {
  if (!opcode.starts_with("ld") && !opcode.starts_with("st")) return std::nullopt;
  const std::vector<std::string_view> parts = ptx::split_opcode(opcode);
  if (parts.front() != "ld" && parts.front() != "ldu" && parts.front() != "st") return std::nullopt;
  MemoryAccess access;
  access.is_store = parts.front() == "st";
  const auto type = ptx::type_of_suffix(fmt::format(".{}", parts.back()));
  if (!type || type->type_class == ptx::TypeClass::predicate) return std::nullopt;
  access.type = *type;
  bool is_beyond_block = false;
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (const auto* const space = find_word(kSpaces, part)) {
      access.space = space->second;
    } else if (const auto* const order = find_word(kOrders, part)) {
      access.order = order->second;
      is_beyond_block = is_beyond_block || (part == "volatile" && !access.is_store);  // it may poll what others store
    } else if (std::ranges::find(kScopes, part) != std::end(kScopes)) {
      is_beyond_block = part != "cta";
    } else if (part == "v2" || part == "v4" || part == "v8") {
      access.vector_elements = part[1] - '0';
    } else if (is_hint(part)) {
      access.has_policy = access.has_policy || part == "L2::cache_hint";
    } else {
      return std::nullopt;
    }
  }
  if (access.type.bits == 128) {
    if (access.vector_elements != 1) return std::nullopt;
    access.type.bits = 64;
    access.vector_elements = 2;
    access.is_128_bit = true;
  }
  access.meets_other_blocks = access.order != MemoryOrder::weak && is_beyond_block &&
                              (access.space == Space::global || access.space == Space::generic);
  const bool read_only = access.space == Space::constant || access.space == Space::param;
  if ((access.is_store && read_only) || !is_vector(access)) return std::nullopt;
  return access;
}

MemoryOrder memory_order(std::string_view opcode) {
  if (const auto access = parse_memory_access(opcode)) return access->order;
  const std::vector<std::string_view> parts = ptx::split_opcode(opcode);
  if (parts.front() == "mbarrier") return mbarrier_order(parts);
  if (parts.front() == "cp" && parts.size() > 3) {
    if (parts[2] == "mbarrier") return MemoryOrder::release;
    return parts[1] == "reduce" ? MemoryOrder::relaxed : MemoryOrder::weak;  // each element is an atomic
  }
  if (parts.front() != "atom" && parts.front() != "red" && parts.front() != "sured") return MemoryOrder::weak;
  for (const std::string_view part : parts) {
    if (const auto* const order = find_word(kOrders, part)) return order->second;
  }
  return MemoryOrder::relaxed;
}

MemoryScope memory_scope(std::string_view opcode) {
  const std::vector<std::string_view> parts = ptx::split_opcode(opcode);
  if (std::ranges::find(parts, "cta") != parts.end()) return MemoryScope::block;
  return std::ranges::find(parts, "cluster") != parts.end() ? MemoryScope::cluster : MemoryScope::device;
}

bool is_volatile(std::string_view opcode) {
  const std::vector<std::string_view> parts = ptx::split_opcode(opcode);
  return std::ranges::find(parts, "volatile") != parts.end();
}

}  // namespace convladder::simulated
