// A pre-decoded instruction and the state it works on: registers as structure of arrays over the lanes of a warp.
//
// Every operand is a slot of 32 lanes, whatever it was in the text: a register, an immediate, a symbol's address or a
// special register. So no operation branches on the kind of its operands. Slots of up to 32 bits hold one uint32_t per
// lane, slots of 64 bits one uint64_t; a predicate is one mask for all lanes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "simulator/memory/warp_access.hpp"

namespace convladder::simulated {

/// A slot: a byte offset into the warp's registers or into the constants that all warps of a block share.
class Slot {
 public:
  Slot() = default;
  static Slot in_registers(std::uint32_t offset) { return Slot(offset << 1); }
  static Slot in_constants(std::uint32_t offset) { return Slot((offset << 1) | 1); }
  bool is_constant() const { return (code_ & 1) != 0; }
  std::uint32_t offset() const { return code_ >> 1; }
  bool operator==(const Slot&) const = default;

 private:
  explicit Slot(std::uint32_t code) : code_(code) {}
  std::uint32_t code_ = 0;
};

class BlockContext;  // shared by the warps of a block: memory, shared memory, findings

/// The state of the executing warp that an operation sees.
struct WarpState {
  std::byte* bases[2] = {};  ///< registers, constants
  LaneMask mask = 0;         ///< lanes in which the current operation takes effect
  LaneMask live = 0;         ///< lanes that have not exited
  LaneMask elsewhere = 0;    ///< lanes that carry out a corresponding operation: two bar.warp.sync can be one
  LaneMask passed_by = 0;    ///< lanes that others waited for, and that went on from where paths meet
  BlockContext* block = nullptr;
  int index = 0;  ///< number of the warp in its block

  /// The lanes addressed by a barrier or an exchange of all lanes.
  LaneMask all() const { return live | passed_by; }
  template <typename T>
  T* write(Slot slot) const {
    return reinterpret_cast<T*>(bases[0] + slot.offset());
  }
  template <typename T>
  const T* read(Slot slot) const {
    return reinterpret_cast<const T*>(bases[slot.is_constant() ? 1 : 0] + slot.offset());
  }
};

/// The kinds of an exchange's operands, in one number.
class ExchangeOperands {
 public:
  ExchangeOperands() = default;
  explicit ExchangeOperands(std::int64_t code) : code_(code) {}
  std::int64_t code() const { return code_; }
  /// `bits` is 1 for a predicate, 32 or 64.
  void add(int operand, int bits, bool is_result) {
    code_ |= std::int64_t{(bits == 1 ? 1 : bits / 32 + 1) | (is_result ? kResult : 0)} << (kBits * operand);
  }
  int bits(int operand) const {
    const auto kind = static_cast<int>(code_ >> (kBits * operand)) & (kResult - 1);
    return kind <= 1 ? kind : (kind - 1) * 32;
  }
  bool is_result(int operand) const { return (code_ >> (kBits * operand) & kResult) != 0; }

 private:
  static constexpr int kBits = 3;  // of the code for an operand
  static constexpr int kResult = 4;
  std::int64_t code_ = 0;
};

struct Operation;
using Handler = void (*)(WarpState& warp, const Operation& operation);

/// How the interpreter treats an operation, besides calling the handler.
/// `meeting`: lanes exchange values or wait for each other. It is carried out when all named lanes are there.
/// `call` and `return_`: of functions; a kernel's `ret` is an exit.
enum class OperationKind : std::uint8_t {
  plain,
  branch,
  table_branch,
  barrier,
  meeting,
  call,
  return_,
  exit,
  trap,
  read_clock
};

struct Operation {
  Handler handler = nullptr;  ///< for plain operations and meetings
  Slot operands[6];           ///< destinations first, as in the text
  std::int64_t offset = 0;    ///< for an address, in bytes; otherwise Form::parameter
  int target = 0;             ///< for a branch: index of an operation; for a meeting: see `members`; see `kEachThread`
  int detail = 0;             ///< meaning defined in the subject's file
  int list = 0;               ///< first of further operands in Program::operand_lists
  int instruction = 0;        ///< index into ptx::Kernel::instructions: gives its place and its counters
  Slot guard;                 ///< predicate slot, if `guarded`
  OperationKind kind = OperationKind::plain;
  bool guarded = false;
  bool guard_negated = false;
  std::uint8_t vector_elements = 1;  ///< for a memory access; element i is operands[i]

  /// The number of a meeting's operand that names the meeting lanes; `kAllLive`: all lanes that have not exited.
  static constexpr int kAllLive = -1;
  /// `detail` of a meeting whose lanes may be at different instructions that name the same lanes: of bar.warp.sync, and
  /// of an exchange of values, whose instructions must have the same opcode. `offset` of the latter is its
  /// ExchangeOperands.
  static constexpr int kWarpBarrier = 1;
  static constexpr int kExchange = 2;
  /// `target` of a barrier whose lanes may be at different instructions (barrier without .aligned).
  static constexpr int kEachThread = 1;
  /// `detail` of a trap that is no assertion; for an assertion it is its call (Program::calls).
  static constexpr int kNoAssertion = -1;
  int members() const { return target; }
};
static_assert(sizeof(Operation) == 64, "operations are what the interpreter reads all the time: a cache line each");

/// Stores the lanes of the mask in a predicate.
inline void write_predicate(LaneMask* destination, LaneMask mask, LaneMask value) {
  *destination = (*destination & ~mask) | (value & mask);
}

/// Stores value(lane) in every lane of the mask. The loop covers all lanes without branches, so that it vectorises.
template <typename T, typename Value>
inline void write_lanes(T* destination, LaneMask mask, const Value& value) {
  if (mask == kAllLanes) {
#pragma GCC ivdep
    for (int lane = 0; lane < kLanes; ++lane) destination[lane] = value(lane);
  } else {
#pragma GCC ivdep
    for (int lane = 0; lane < kLanes; ++lane) {
      const T result = value(lane);
      destination[lane] = ((mask >> lane) & 1U) != 0 ? result : destination[lane];
    }
  }
}

}  // namespace convladder::simulated
