// Memory that a thread allocates while it runs: alloca, stacksave, stackrestore (PTX ISA 9.0, 9.7.18).
//
// It is at the end of the thread's local memory and grows downward; each lane has a register with the size in use.
// Functions that the kernel calls cannot allocate any: their memory would be freed when they return, which nothing here
// does.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "simulator/instructions/arithmetic/lane_functions.hpp"
#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {
namespace {

constexpr std::uint32_t kStackBytes = 16 * 1024;  // per thread
constexpr int kStackOverflow = 104;               // a kind of fault in addition to those of accesses
constexpr std::uint64_t kDefaultAlignment = 8;

/// Operands: destination, size, bytes in use. `offset` is the alignment.
template <typename T>
void allocate(WarpState& warp, const Operation& operation) {
  const T* const sizes = warp.read<T>(operation.operands[1]);
  auto* const used = warp.write<std::uint64_t>(operation.operands[2]);
  T* const results = warp.write<T>(operation.operands[0]);
  const std::uint64_t end = warp.block->program->local_bytes;
  const auto alignment = static_cast<std::uint64_t>(operation.offset);
  LaneMask overflow = 0;
  for (LaneMask left = warp.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (sizes[lane] > kStackBytes - used[lane]) {
      overflow |= LaneMask{1} << lane;
      continue;
    }
    const std::uint64_t begin = (end - used[lane] - sizes[lane]) & ~(alignment - 1);
    if (end - begin > kStackBytes) {
      overflow |= LaneMask{1} << lane;
      continue;
    }
    used[lane] = end - begin;
    results[lane] = static_cast<T>(begin);
  }
  if (overflow == 0) return;
  warp.block->fault(warp, operation, Checker::memory, kStackOverflow, overflow, [&](int lane) {
    return warp.block->finding_at(warp, operation, lane, Checker::memory,
                                  fmt::format("stack overflow: alloca of {} bytes with {} of {} bytes in use",
                                              sizes[lane], used[lane], kStackBytes));
  });
}

/// Gives the stack pointer. Operands: destination, bytes in use.
template <typename T>
void save(WarpState& warp, const Operation& operation) {
  const auto* const used = warp.read<std::uint64_t>(operation.operands[1]);
  const std::uint64_t end = warp.block->program->local_bytes;
  write_lanes(warp.write<T>(operation.operands[0]), warp.mask,
              [=](int lane) { return static_cast<T>(end - used[lane]); });
}

/// Frees everything below the pointer. Operands: bytes in use, pointer. A pointer that was not saved is undefined
/// behaviour: the stack stays between empty and full.
template <typename T>
void restore(WarpState& warp, const Operation& operation) {
  const T* const pointers = warp.read<T>(operation.operands[1]);
  const std::uint64_t end = warp.block->program->local_bytes;
  write_lanes(warp.write<std::uint64_t>(operation.operands[0]), warp.mask, [=](int lane) {
    return std::min(end - std::min<std::uint64_t>(pointers[lane], end), std::uint64_t{kStackBytes});
  });
}

}  // namespace

bool decode_stack(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  const std::vector<std::string_view> parts = ptx::split_opcode(instruction.opcode);
  if (parts.size() != 2 || (parts[1] != "u32" && parts[1] != "u64")) return false;
  if (parts[0] != "alloca" && parts[0] != "stacksave" && parts[0] != "stackrestore") return false;
  if (decoder.in_function()) decoder.fail("only kernels can do this, not functions that they call");
  const bool wide = parts[1] == "u64";
  const int bits = wide ? 64 : 32;
  const Slot used = decoder.stack_in_use(kStackBytes);
  const auto& operands = instruction.operands;
  if (parts[0] == "alloca") {
    if (operands.size() != 3) decoder.expect_operands(2);
    Operation operation;
    operation.offset = static_cast<std::int64_t>(kDefaultAlignment);
    if (operands.size() == 3) {
      const std::uint64_t alignment = operands[2].bits;
      if (operands[2].kind != ptx::OperandKind::immediate || !std::has_single_bit(alignment) ||
          alignment > kStackBytes) {
        decoder.fail("an alignment must be a power of two");
      }
      operation.offset = static_cast<std::int64_t>(alignment);
    }
    operation.handler = wide ? &allocate<std::uint64_t> : &allocate<std::uint32_t>;
    operation.operands[1] = decoder.read(operands[1], bits);
    operation.operands[0] = decoder.write(operands[0], bits);
    operation.operands[2] = used;
    decoder.emit(operation);
  } else if (parts[0] == "stacksave") {
    decoder.expect_operands(1);
    decoder.emit(wide ? &save<std::uint64_t> : &save<std::uint32_t>, {decoder.write(operands[0], bits), used});
  } else {
    decoder.expect_operands(1);
    decoder.emit(wide ? &restore<std::uint64_t> : &restore<std::uint32_t>, {used, decoder.read(operands[0], bits)});
  }
  return true;
}

}  // namespace convladder::simulated
