// Loads and stores by their opcodes.
#pragma once

#include <optional>
#include <string_view>

#include "simulator/ptx/module.hpp"

namespace convladder::simulated {

/// The order in which other threads see an access (PTX ISA 9.0, 8.5 to 8.7). All but weak accesses are strong: threads
/// may meet at them without a race.
enum class MemoryOrder { weak, relaxed, acquire, release, acquire_release };

/// The threads that a strong access is strong for: those of its block, of its cluster, or all (PTX ISA 9.0, 8.5).
enum class MemoryScope { block, cluster, device };

/// The meaning of "ld.acquire.gpu.global.v4.f32".
struct MemoryAccess {
  bool is_store = false;
  ptx::Space space = ptx::Space::generic;
  ptx::Type type;
  int vector_elements = 1;  ///< an access of .b128 has two elements of 64 bits
  bool is_128_bit = false;  ///< whether these two are in one register
  bool has_policy = false;  ///< a last operand says how caches treat the data
  MemoryOrder order = MemoryOrder::weak;
  bool meets_other_blocks = false;  ///< strong, with a scope beyond the block
};

/// Parses the opcode of a load or store; none if it is another opcode or has an unknown modifier.
std::optional<MemoryAccess> parse_memory_access(std::string_view opcode);

/// The order of any access: a load, a store or an atomic. Weak for other opcodes.
MemoryOrder memory_order(std::string_view opcode);

/// The scope of a strong access: the device where the opcode names none.
MemoryScope memory_scope(std::string_view opcode);

/// Whether a load or store is volatile.
bool is_volatile(std::string_view opcode);

}  // namespace convladder::simulated
