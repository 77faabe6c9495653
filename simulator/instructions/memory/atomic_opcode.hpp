// Atomics by their opcodes (PTX ISA 9.0, 9.7.13.5 and 9.7.13.6: atom, red).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "simulator/ptx/module.hpp"

namespace convladder::simulated {

/// The meaning of "atom.acq_rel.gpu.global.add.u32".
struct AtomicOpcode {
  bool returns = false;  ///< atom instead of red
  ptx::Space space = ptx::Space::generic;
  std::string name;         ///< operation and type: "add.u32", "add.noftz.f16"
  int vector_elements = 1;  ///< each an atomic of its own
  bool has_policy = false;  ///< a last operand says how caches treat the data
};

/// Parses the opcode of an atomic; none for another opcode, or if a word is missing.
std::optional<AtomicOpcode> parse_atomic(std::string_view opcode);

}  // namespace convladder::simulated
