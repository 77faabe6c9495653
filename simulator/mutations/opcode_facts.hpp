// Facts about instructions that mutations need, from their opcodes and operands.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "simulator/ptx/module.hpp"

namespace convladder::simulated {

/// The type of the value that an instruction gives: the first type of a conversion and of a product of matrices, the
/// last one of anything else.
std::optional<ptx::Type> result_type(const ptx::Instruction& instruction);

/// An instruction that writes values of registers into global, shared or any memory, and where its operands are.
struct StoreFacts {
  const ptx::Operand* address = nullptr;
  const ptx::Operand* value = nullptr;  ///< null: a copy from memory to memory
  bool is_global = false;               ///< or generic
  bool is_sum = false;                  ///< an atomic addition
  bool is_atomic = false;
  std::size_t value_index = 0;  ///< of the operand
};
std::optional<StoreFacts> store_facts(const ptx::Instruction& instruction);

/// The index of the operand with the address of a load from global or any memory, and the bytes that a thread loads.
struct LoadFacts {
  std::size_t address = 0;
  int bytes = 0;
};
std::optional<LoadFacts> load_facts(const ptx::Instruction& instruction);

/// Whether it has this register as its result, or among its results.
bool writes(const ptx::Instruction& instruction, int reg);

}  // namespace convladder::simulated
