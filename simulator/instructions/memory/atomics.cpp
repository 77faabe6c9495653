// Read-modify-write of memory (PTX ISA 9.0, 9.7.13: atom, red). Lanes take turns in ascending order.
//
// Blocks see each other's atomics, so a kernel with atomics in global memory runs its blocks in order, on one host
// thread: its results, and sums of floating point numbers above all, are the same in every run. Integer atomics whose
// result nobody reads, and which give the same memory in every order, run on several host threads instead.
//
// Several values of one lane are in vector_atomics.cpp.
//
// Cost: as other accesses, except that a bank of shared memory serves one lane a pass, even lanes with the same
// address.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <string_view>

#include "simulator/instructions/arithmetic/lane_functions.hpp"
#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/memory/atomic_functions.hpp"
#include "simulator/instructions/memory/atomic_opcode.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {
namespace {

using ptx::Space;

constexpr int kLocalAtomic = 101;  // a kind of fault in addition to those of accesses

// --- execution ------------------------------------------------------------------------------------------------------

/// Reads, changes and writes one lane's value; returns the old one. Commutative atomics may run beside other host
/// threads.
template <typename Function, typename T, bool kGlobal>
T update(std::byte* at, T b, T c, bool adds_bits) {
  if constexpr (kGlobal && Function::kCommutes && std::is_integral_v<T> && sizeof(T) >= 4) {
    const std::atomic_ref<T> shared(*reinterpret_cast<T*>(at));
    T old = shared.load(std::memory_order_relaxed);
    while (!shared.compare_exchange_weak(old, Function::apply(old, b, c), std::memory_order_relaxed)) {
    }
    return old;
  } else {
    T old;
    std::memcpy(&old, at, sizeof old);
    const T changed = changed_by<Function>(old, b, c, adds_bits);
    std::memcpy(at, &changed, sizeof changed);
    return old;
  }
}

/// The passes of an access of kBytes per lane where a bank takes a pass for each lane that it serves.
template <unsigned kBytes>
std::uint64_t lanes_of_a_bank(const Addresses& addresses, LaneMask mask) {
  constexpr unsigned kGranule = std::max(kBytes, 4U);
  std::array<std::uint8_t, kBanks> lanes_of_bank{};
  std::uint8_t most = 0;
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const std::uint64_t address = addresses[std::countr_zero(left)];
    most = std::max(most, ++lanes_of_bank[address / kGranule % (kBanks * 4U / kGranule)]);
  }
  return most;
}

/// Operands: old value, b, c, address. `detail` is 1 if the address has 64 bits.
template <Space kSpace, typename Function, typename T>
void update_at(WarpState& warp, const Operation& operation, const Addresses& addresses) {
  std::uint64_t& wavefronts = warp.block->counters[operation.instruction].wavefronts;
  const std::uint64_t wavefronts_before = wavefronts;
  const LanePlaces places = reach<kSpace>(warp, operation, addresses, sizeof(T), AccessKind::atomic);
  const auto* const b = warp.read<SlotElement<T>>(operation.operands[1]);
  const auto* const c = warp.read<SlotElement<T>>(operation.operands[2]);
  std::array<SlotElement<T>, kLanes> old{};  // zero for faulty lanes
  bool changed = false;
  const bool adds_bits = warp.block->adds_bits();
  for (LaneMask left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const T before = update<Function, T, kSpace == Space::global>(places.at[lane], from_slot<T>(b[lane]),
                                                                  from_slot<T>(c[lane]), adds_bits);
    old[lane] = to_slot<T>(before);
    changed =
        changed || changed_by<Function>(before, from_slot<T>(b[lane]), from_slot<T>(c[lane]), adds_bits) != before;
  }
  warp.block->memory_changes += changed ? 1 : 0;
  if constexpr (kSpace == Space::shared) {  // lanes with the same word are not served together
    wavefronts = std::max(wavefronts, wavefronts_before + lanes_of_a_bank<sizeof(T)>(addresses, places.mask));
  }
  write_lanes(warp.write<SlotElement<T>>(operation.operands[0]), warp.mask, [&](int lane) { return old[lane]; });
}

void refuse_local(const WarpState& warp, const Operation& operation) {
  warp.block->fault(warp, operation, Checker::memory, kLocalAtomic, warp.mask, [&](int lane) {
    return warp.block->finding_at(warp, operation, lane, Checker::memory, "atomic access to local memory");
  });
}

/// Chooses the handler of a state space: `InGlobal` and `InShared` differ where the space changes the arithmetic.
template <Space kSpace, typename InGlobal, typename InShared, typename T>
void execute_atomic(WarpState& warp, const Operation& operation) {
  const Addresses addresses = lane_addresses(warp, operation, operation.operands[3], operation.detail == 1);
  if constexpr (kSpace == Space::generic) {
    for_each_space(warp, addresses, [&]<Space kActual>(const Addresses& selected) {
      if constexpr (kActual == Space::local) {
        refuse_local(warp, operation);
        write_lanes(warp.write<SlotElement<T>>(operation.operands[0]), warp.mask,
                    [](int /*lane*/) { return SlotElement<T>{0}; });
      } else if constexpr (kActual == Space::shared) {
        update_at<kActual, InShared, T>(warp, operation, selected);
      } else {
        update_at<kActual, InGlobal, T>(warp, operation, selected);
      }
    });
  } else if constexpr (kSpace == Space::shared) {
    update_at<kSpace, InShared, T>(warp, operation, addresses);
  } else {
    update_at<kSpace, InGlobal, T>(warp, operation, addresses);
  }
}

// --- decoding -------------------------------------------------------------------------------------------------------

struct AtomicForm {
  std::string_view name;  ///< "add.u32"
  int bits;
  bool commutes;
  int sources;
  Handler global;
  Handler shared;
  Handler generic;
};

template <typename InGlobal, typename InShared, typename T>
constexpr AtomicForm form_of(std::string_view name, int sources = 1) {
  return {name,
          static_cast<int>(8 * sizeof(T)),
          InGlobal::kCommutes,
          sources,
          &execute_atomic<Space::global, InGlobal, InShared, T>,
          &execute_atomic<Space::shared, InGlobal, InShared, T>,
          &execute_atomic<Space::generic, InGlobal, InShared, T>};
}
template <typename Function, typename T>
constexpr AtomicForm form_of(std::string_view name, int sources = 1) {
  return form_of<Function, Function, T>(name, sources);
}

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

constexpr AtomicForm kForms[] = {
    form_of<Exchange, U32>("exch.b32"),
    form_of<Exchange, U64>("exch.b64"),
    form_of<CompareAndSwap, U16>("cas.b16", 2),
    form_of<CompareAndSwap, U32>("cas.b32", 2),
    form_of<CompareAndSwap, U64>("cas.b64", 2),
    form_of<And, U32>("and.b32"),
    form_of<And, U64>("and.b64"),
    form_of<Or, U32>("or.b32"),
    form_of<Or, U64>("or.b64"),
    form_of<Xor, U32>("xor.b32"),
    form_of<Xor, U64>("xor.b64"),
    form_of<Add, U32>("add.u32"),
    form_of<Add, U32>("add.s32"),
    form_of<Add, U64>("add.u64"),
    form_of<Add, U64>("add.s64"),
    form_of<Minimum, U32>("min.u32"),
    form_of<Minimum, S32>("min.s32"),
    form_of<Minimum, U64>("min.u64"),
    form_of<Minimum, S64>("min.s64"),
    form_of<Maximum, U32>("max.u32"),
    form_of<Maximum, S32>("max.s32"),
    form_of<Maximum, U64>("max.u64"),
    form_of<Maximum, S64>("max.s64"),
    form_of<Increment, U32>("inc.u32"),
    form_of<Decrement, U32>("dec.u32"),
    form_of<AddFloat<true>, AddFloat<false>, U32>("add.f32"),
    form_of<AddDouble, U64>("add.f64"),
    form_of<AddElement<Half>, U16>("add.noftz.f16"),
    form_of<AddPair<Half>, U32>("add.noftz.f16x2"),
    form_of<AddElement<Bfloat16>, U16>("add.noftz.bf16"),
    form_of<AddPair<Bfloat16>, U32>("add.noftz.bf16x2"),
};

}  // namespace

bool decode_atomic(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  const std::optional<AtomicOpcode> opcode = parse_atomic(instruction.opcode);
  if (!opcode || opcode->vector_elements > 1) return false;
  const auto* const found = std::ranges::find(kForms, opcode->name, &AtomicForm::name);
  if (found == std::end(kForms)) return false;
  const AtomicForm& form = *found;
  if (!opcode->returns && (form.sources == 2 || form.name.starts_with("exch"))) return false;
  const std::size_t first = opcode->returns ? 1 : 0;
  const std::size_t policies = opcode->has_policy ? 1 : 0;
  decoder.expect_operands(first + 1 + static_cast<std::size_t>(form.sources) + policies);
  const auto& operands = instruction.operands;
  const int bits = form.bits == 64 ? 64 : 32;

  Operation operation;
  operation.handler = opcode->space == Space::global   ? form.global
                      : opcode->space == Space::shared ? form.shared
                                                       : form.generic;
  operation.operands[1] = decoder.read(operands[first + 1], bits);
  operation.operands[2] = form.sources == 2 ? decoder.read(operands[first + 2], bits) : operation.operands[1];
  if (opcode->has_policy) static_cast<void>(decoder.read(operands.back(), 64));
  const auto [address, wide] = decoder.address(operands[first], opcode->space, operation);
  operation.operands[3] = address;
  operation.detail = wide ? 1 : 0;
  operation.operands[0] = opcode->returns ? decoder.write_narrow(operands[0], bits) : decoder.temporary(bits);
  const bool result_is_read =
      opcode->returns && operands[0].kind == ptx::OperandKind::register_ && decoder.is_named_elsewhere(operands[0]);
  if (opcode->space != Space::shared && (result_is_read || !form.commutes)) decoder.require_block_order();
  decoder.emit(operation);
  decoder.finish_writes();
  return true;
}

}  // namespace convladder::simulated
