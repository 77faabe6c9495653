// Whether the registers of an instruction fit its types (PTX ISA 9.0, 9.2, 9.4: operand types and sizes).
#pragma once

#include <span>
#include <string>

#include "simulator/ptx/module.hpp"

namespace convladder::ptx {

/// The problem of the first register that does not fit: "the register %f1 (.f32) does not fit .u32". Empty if all fit,
/// and for instructions whose operands are not described here. As ptxas: registers of the same size fit if one of the
/// two types is of bits or both are integers; those of loads, stores and conversions may be wider.
std::string type_problem(const Instruction& instruction, std::span<const Register> registers);

}  // namespace convladder::ptx
