// What registers hold as a function of the block's place along an axis, and what instructions make of it: see
// alike_blocks.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "simulator/execution/alike_blocks.hpp"
#include "simulator/ptx/module.hpp"

namespace convladder::simulated::alike {

/// What is known of a register at any time and in any thread: `rest` + the place * `slope`.
struct Value {
  bool is_line = true;                          ///< false: anything, also of a register that depends on memory
  bool from_data = false;                       ///< depends on what was read from memory
  std::uint64_t slope = 0;                      ///< in as many bits as the value has
  std::optional<std::uint64_t> rest;            ///< if it is the same number everywhere
  std::optional<KnownBuffer> buffer;            ///< that it points into, if that is known
  std::optional<std::uint64_t> parameter_byte;  ///< of the kernel's parameters, that it points to

  bool operator==(const Value&) const = default;
  bool is_same_everywhere() const { return is_line && slope == 0 && rest.has_value(); }
  bool is_of_no_place() const { return is_line && slope == 0; }
};

Value constant(std::uint64_t value);
inline constexpr Value kOfNoPlace{};
inline constexpr Value kAnything{
    .is_line = false, .from_data = false, .slope = 0, .rest = {}, .buffer = {}, .parameter_byte = {}};
inline constexpr Value kData{
    .is_line = false, .from_data = true, .slope = 0, .rest = {}, .buffer = {}, .parameter_byte = {}};

/// What a register holds that is written at two places.
Value joined(const Value& a, const Value& b);

/// The lower `bits` of a value, with copies of the highest of them above.
std::uint64_t sign_extended(std::uint64_t value, int bits);

/// A value that is a line; or none: what is computed is no line, or is not known to be one.
using Line = std::optional<Value>;

/// What an instruction makes of lines, if it is one that makes lines of them. `parts` are its opcode's, `operands` the
/// values of its operands but the first; there are `places` places.
Line computed(const ptx::Instruction& instruction, std::span<const std::string_view> parts,
              std::span<const Value> operands, std::uint64_t places);

}  // namespace convladder::simulated::alike
