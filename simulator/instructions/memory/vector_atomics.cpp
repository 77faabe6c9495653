// Atomics on vectors and on 128 bits (PTX ISA 9.0, 9.7.13.5 and 9.7.13.6). Every element of a vector is an atomic of
// its own; lanes take turns in ascending order. Such kernels run their blocks in order: see atomics.cpp.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/memory/atomic_functions.hpp"
#include "simulator/instructions/memory/atomic_opcode.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {
namespace {

using ptx::Space;

constexpr int kMostElements = 8;

/// Calls access.operator()<Space>(places) for the lanes of each state space, with `bytes` per lane. The address is
/// operand 0, and `detail` is 1 if it has 64 bits.
template <typename Access>
void reach_in(Space space, WarpState& warp, const Operation& operation, int bytes, const Access& access) {
  const Addresses addresses = lane_addresses(warp, operation, operation.operands[0], operation.detail == 1);
  const auto in_space = [&]<Space kSpace>(const Addresses& selected) {
    access(reach<kSpace>(warp, operation, selected, bytes, AccessKind::atomic));
  };
  if (space == Space::generic) {
    for_each_space(warp, addresses, in_space);
  } else if (space == Space::shared) {
    in_space.template operator()<Space::shared>(addresses);
  } else {
    in_space.template operator()<Space::global>(addresses);
  }
}

// --- vectors --------------------------------------------------------------------------------------------------------

/// Carries out atomics on vectors. In the operand lists: the elements' values, then, if they are returned, the slots of
/// the old values.
template <Space kSpace, typename Function, typename T, bool kReturns>
void update_elements(WarpState& warp, const Operation& operation) {
  const int elements = operation.vector_elements;
  const Slot* const slots = warp.block->program->operand_lists.data() + operation.list;
  const LaneMask all = warp.mask;
  const bool adds_bits = warp.block->adds_bits();
  std::array<std::array<std::uint32_t, kLanes>, kMostElements> old{};  // zero for faulty lanes
  reach_in(kSpace, warp, operation, elements * static_cast<int>(sizeof(T)), [&](const LanePlaces& places) {
    for (LaneMask left = places.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      for (int i = 0; i < elements; ++i) {
        std::byte* const at = places.at[lane] + sizeof(T) * static_cast<std::size_t>(i);
        T before;
        std::memcpy(&before, at, sizeof before);
        const T b = static_cast<T>(warp.read<std::uint32_t>(slots[i])[lane]);
        const T after = changed_by<Function>(before, b, T{}, adds_bits);
        std::memcpy(at, &after, sizeof after);
        old[i][lane] = before;
        warp.block->memory_changes += after != before ? 1 : 0;
      }
    }
  });
  for (int i = 0; kReturns && i < elements; ++i) {
    write_lanes(warp.write<std::uint32_t>(slots[elements + i]), all, [&](int lane) { return old[i][lane]; });
  }
}

struct VectorForm {
  std::string_view name;
  int most_elements;
  Handler global[2];  ///< without and with a result
  Handler generic[2];
};

template <typename Function, typename T>
constexpr VectorForm vector_form(std::string_view name, int most_elements) {
  constexpr Space global = Space::global;
  constexpr Space generic = Space::generic;
  return {name,
          most_elements,
          {&update_elements<global, Function, T, false>, &update_elements<global, Function, T, true>},
          {&update_elements<generic, Function, T, false>, &update_elements<generic, Function, T, true>}};
}

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr VectorForm kVectorForms[] = {
    vector_form<AddFloat<true>, U32>("add.f32", 4),
    vector_form<AddElement<Half>, U16>("add.noftz.f16", 8),
    vector_form<AddElement<Bfloat16>, U16>("add.noftz.bf16", 8),
    vector_form<ExtremeElement<Half, false>, U16>("min.noftz.f16", 8),
    vector_form<ExtremeElement<Half, true>, U16>("max.noftz.f16", 8),
    vector_form<ExtremeElement<Bfloat16, false>, U16>("min.noftz.bf16", 8),
    vector_form<ExtremeElement<Bfloat16, true>, U16>("max.noftz.bf16", 8),
    vector_form<AddPair<Half>, U32>("add.noftz.f16x2", 4),
    vector_form<AddPair<Bfloat16>, U32>("add.noftz.bf16x2", 4),
    vector_form<ExtremePair<Half, false>, U32>("min.noftz.f16x2", 4),
    vector_form<ExtremePair<Half, true>, U32>("max.noftz.f16x2", 4),
    vector_form<ExtremePair<Bfloat16, false>, U32>("min.noftz.bf16x2", 4),
    vector_form<ExtremePair<Bfloat16, true>, U32>("max.noftz.bf16x2", 4),
};

void decode_vector(InstructionDecoder& decoder, const AtomicOpcode& opcode, const VectorForm& form) {
  const auto& operands = decoder.instruction().operands;
  const std::size_t first = opcode.returns ? 1 : 0;
  decoder.expect_operands(first + (opcode.has_policy ? 3 : 2));
  const auto elements_of = [&](const ptx::Operand& operand) -> const std::vector<ptx::Operand>& {
    if (operand.elements.size() != static_cast<std::size_t>(opcode.vector_elements)) {
      decoder.fail(fmt::format("expected {} elements, found {}", opcode.vector_elements, operand.elements.size()));
    }
    return operand.elements;
  };
  std::vector<Slot> slots;
  for (const ptx::Operand& element : elements_of(operands[first + 1])) slots.push_back(decoder.read(element, 32));
  if (opcode.returns) {
    for (const ptx::Operand& element : elements_of(operands[0])) slots.push_back(decoder.write_narrow(element, 32));
  }
  if (opcode.has_policy) static_cast<void>(decoder.read(operands.back(), 64));
  Operation operation;
  const auto [address, wide] = decoder.address(operands[first], opcode.space, operation);
  operation.operands[0] = address;
  operation.detail = wide ? 1 : 0;
  operation.vector_elements = static_cast<std::uint8_t>(opcode.vector_elements);
  operation.list = decoder.keep_operands(slots);
  operation.handler = (opcode.space == Space::global ? form.global : form.generic)[opcode.returns ? 1 : 0];
  decoder.require_block_order();
  decoder.emit(operation);
  decoder.finish_writes();
}

// --- 128 bits -------------------------------------------------------------------------------------------------------

/// Operands: address, then halves of 64 bits, the lower first: old value, b; c is in the operand lists.
template <Space kSpace, bool kCompares>
void update_128_bits(WarpState& warp, const Operation& operation) {
  using Value = std::array<U64, 2>;
  const LaneMask all = warp.mask;
  const auto value_of = [&warp](const Slot* halves, int lane) {
    return Value{warp.read<U64>(halves[0])[lane], warp.read<U64>(halves[1])[lane]};
  };
  const Slot* const b = operation.operands + 3;
  const Slot* const c = warp.block->program->operand_lists.data() + operation.list;
  std::array<Value, kLanes> old{};
  reach_in(kSpace, warp, operation, sizeof(Value), [&](const LanePlaces& places) {
    for (LaneMask left = places.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      std::memcpy(&old[lane], places.at[lane], sizeof(Value));
      Value after = value_of(b, lane);
      if constexpr (kCompares) after = old[lane] == after ? value_of(c, lane) : old[lane];
      std::memcpy(places.at[lane], &after, sizeof(Value));
      warp.block->memory_changes += after != old[lane] ? 1 : 0;
    }
  });
  for (std::size_t half = 0; half < 2; ++half) {
    write_lanes(warp.write<U64>(operation.operands[1 + half]), all, [&](int lane) { return old[lane][half]; });
  }
}

template <bool kCompares>
Handler handler_of_128_bits(Space space) {
  if (space == Space::global) return &update_128_bits<Space::global, kCompares>;
  if (space == Space::shared) return &update_128_bits<Space::shared, kCompares>;
  return &update_128_bits<Space::generic, kCompares>;
}

void decode_128_bits(InstructionDecoder& decoder, const AtomicOpcode& opcode, bool compares) {
  const auto& operands = decoder.instruction().operands;
  decoder.expect_operands((compares ? 4 : 3) + (opcode.has_policy ? 1 : 0));
  if (opcode.has_policy) static_cast<void>(decoder.read(operands.back(), 64));
  Operation operation;
  const auto b = decoder.read_128_bits(operands[2]);
  if (compares) {
    const auto c = decoder.read_128_bits(operands[3]);
    operation.list = decoder.keep_operands({c[0], c[1]});
  }
  const auto [address, wide] = decoder.address(operands[1], opcode.space, operation);
  const auto old = decoder.write_128_bits(operands[0]);
  operation.operands[0] = address;
  std::ranges::copy(old, operation.operands + 1);
  std::ranges::copy(b, operation.operands + 3);
  operation.detail = wide ? 1 : 0;
  operation.handler = compares ? handler_of_128_bits<true>(opcode.space) : handler_of_128_bits<false>(opcode.space);
  if (opcode.space != Space::shared) decoder.require_block_order();
  decoder.emit(operation);
}

}  // namespace

bool decode_vector_atomic(InstructionDecoder& decoder) {
  const std::optional<AtomicOpcode> opcode = parse_atomic(decoder.instruction().opcode);
  if (!opcode) return false;
  if (opcode->vector_elements > 1) {
    const auto* const form = std::ranges::find(kVectorForms, opcode->name, &VectorForm::name);
    if (form == std::end(kVectorForms) || opcode->vector_elements > form->most_elements) return false;
    if (opcode->space != Space::global && opcode->space != Space::generic) return false;
    decode_vector(decoder, *opcode, *form);
    return true;
  }
  if (!opcode->returns || (opcode->name != "exch.b128" && opcode->name != "cas.b128")) return false;
  decode_128_bits(decoder, *opcode, opcode->name == "cas.b128");
  return true;
}

}  // namespace convladder::simulated
