// The types of values in registers that PTX only calls bits, from the instructions that make them.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/ptx/module.hpp"

namespace convladder::simulated {

enum class ValueType : std::uint8_t { whole, float16, bfloat16, float16_pair, bfloat16_pair, float32, float64 };

/// The type of the value that the register holds before this instruction of the body. If nothing says more, it is the
/// type of that size with which the body computes.
ValueType value_type(const ptx::Kernel& body, int reg, int before);

/// The type of all that a body writes to global memory; a pair counts as its elements. None if it writes several types,
/// bytes by copies, or nothing.
std::optional<ValueType> stored_type(const ptx::Kernel& body);

}  // namespace convladder::simulated
