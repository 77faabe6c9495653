// The values of registers as functions of the block's place along an axis, and how instructions change them: see
// equivalent_blocks.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "simulator/execution/equivalent_blocks.hpp"
#include "simulator/ptx/module.hpp"

namespace convladder::simulated::equivalence {

/// A register's value as far as it is known at any time and in any thread: `rest` + the place * `slope`.
struct Value {
  bool is_line = true;                          ///< false: any value, also where it depends on memory
  bool from_data = false;                       ///< depends on what was read from memory
  std::uint64_t slope = 0;                      ///< modulo 2 to the number of the value's bits
  std::optional<std::uint64_t> rest;            ///< set if it is the same number everywhere
  std::optional<KnownBuffer> buffer;            ///< the buffer that it points into, if known
  std::optional<std::uint64_t> parameter_byte;  ///< the byte of the kernel's parameters that it points to

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

/// The value of a register that is written at two places.
Value joined(const Value& a, const Value& b);

/// The lower `bits` of a value, with copies of the highest of these bits above.
std::uint64_t sign_extended(std::uint64_t value, int bits);

/// A value that is a line; none if the result is no line or not known to be one.
using Line = std::optional<Value>;

/// The result of an instruction on lines, if it is one that makes a line of them. `parts` are the parts of its opcode,
/// `operands` the values of all operands but the first; there are `places` places.
Line computed(const ptx::Instruction& instruction, std::span<const std::string_view> parts,
              std::span<const Value> operands, std::uint64_t places);

}  // namespace convladder::simulated::equivalence
