// Loads and stores by their opcodes.
#pragma once

#include <optional>
#include <string_view>

#include "devices/simulated/ptx/module.hpp"

namespace convladder::simulated {

/// What "ld.global.nc.v4.f32" says.
struct MemoryAccess {
  bool is_store = false;
  ptx::Space space = ptx::Space::generic;
  ptx::Type type;
  int vector_elements = 1;
};

/// Reads the opcode of a load or store; none if it is another opcode or has a modifier that is not known.
std::optional<MemoryAccess> parse_memory_access(std::string_view opcode);

}  // namespace convladder::simulated
