#include "simulator/instructions/memory/memory_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/state/known_access.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {
namespace {

/// Whether accesses come in patterns; local memory is separate for each lane, generic addresses are in several spaces.
constexpr bool has_patterns(ptx::Space space) {
  return space == ptx::Space::global || space == ptx::Space::shared || space == ptx::Space::param ||
         space == ptx::Space::constant;
}

/// A value from memory as a lane of a register slot holds it: sign-extended for signed types.
template <typename Element, typename Memory>
Element extended(Memory value) {
  return static_cast<Element>(value);
}

/// Moves `kCount` elements of every lane that are contiguous over all lanes.
template <typename Memory, typename Element, bool kStore, int kCount>
void move_row(const WarpState& warp, const Slot* slots, std::byte* first) {
  std::array<Memory, static_cast<std::size_t>(kLanes) * kCount> row;
  if constexpr (!kStore) std::memcpy(row.data(), first, sizeof row);
  for (int element = 0; element < kCount; ++element) {
    if constexpr (kStore) {
      const auto* const source = warp.read<Element>(slots[element]);
      for (int lane = 0; lane < kLanes; ++lane) row[lane * kCount + element] = static_cast<Memory>(source[lane]);
    } else {
      auto* const destination = warp.write<Element>(slots[element]);
      for (int lane = 0; lane < kLanes; ++lane) destination[lane] = extended<Element>(row[lane * kCount + element]);
    }
  }
  if constexpr (kStore) std::memcpy(first, row.data(), sizeof row);
}

/// Moves elements whose address is the same for every lane. Of several stores the last lane's remains.
template <typename Memory, typename Element, bool kStore>
void move_same(const WarpState& warp, const Slot* slots, int elements, std::byte* at) {
  for (int element = 0; element < elements; ++element, at += sizeof(Memory)) {
    Memory value;
    if constexpr (kStore) {
      value = static_cast<Memory>(warp.read<Element>(slots[element])[kLanes - 1]);
      std::memcpy(at, &value, sizeof value);
    } else {
      std::memcpy(&value, at, sizeof value);
      std::fill_n(warp.write<Element>(slots[element]), kLanes, extended<Element>(value));
    }
  }
}

/// Moves words of lanes that form a few rows. Where rows overlap, the last lane's store remains.
template <bool kStore>
void move_pieces(const WarpState& warp, Slot slot, const LanePattern& pattern, std::byte* at) {
  const auto& pieces = pattern.pieces;
  if constexpr (kStore) {
    const auto* const words = warp.read<std::uint32_t>(slot);
    for (const LanePattern::Piece& piece : pieces) {
      if (piece.lanes != 0) store_lanes(words, piece.lanes, at + piece.begin);
    }
  } else {
    auto* const words = warp.write<std::uint32_t>(slot);
    load_lanes(words, pieces[0].lanes, at + pieces[0].begin, pieces[1].lanes, at + pieces[1].begin);
    if (pieces[2].lanes == 0) return;
    load_lanes(words, pieces[2].lanes, at + pieces[2].begin, pieces[3].lanes, at + pieces[3].begin);
  }
}

/// Moves elements of lanes with any addresses.
template <typename Memory, typename Element, bool kStore, int kCount>
void move_scattered(const WarpState& warp, const Slot* slots, const LanePattern& pattern, std::byte* at) {
  if constexpr (!kStore && sizeof(Memory) == 4 && kCount == 4) {
    const auto words = [&](int element) { return warp.write<std::uint32_t>(slots[element]); };
    return gather_fours({words(0), words(1), words(2), words(3)}, pattern.mask, at, pattern.apart);
  }
  for (int element = 0; element < kCount; ++element, at += sizeof(Memory)) {
    if constexpr (kStore) {
      const auto* const source = warp.read<Element>(slots[element]);
      for (LaneMask left = pattern.mask; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const auto value = static_cast<Memory>(source[lane]);
        std::memcpy(at + pattern.apart[lane], &value, sizeof value);
      }
    } else if constexpr (sizeof(Memory) == 4) {
      gather_lanes(warp.write<Element>(slots[element]), pattern.mask, at, pattern.apart);
    } else {
      write_lanes(warp.write<Element>(slots[element]), pattern.mask, [&pattern, at](int lane) {
        Memory value;
        std::memcpy(&value, at + pattern.apart[lane], sizeof value);
        return extended<Element>(value);
      });
    }
  }
}

/// Moves `kCount` elements of each lane of a pattern whose first lane's elements are at `at`.
template <typename Memory, typename Element, bool kStore, int kCount>
void move_known(const WarpState& warp, const Slot* slots, const LanePattern& pattern, std::byte* at) {
  if (pattern.shape == LanePattern::Shape::same) return move_same<Memory, Element, kStore>(warp, slots, kCount, at);
  if (pattern.shape == LanePattern::Shape::row) return move_row<Memory, Element, kStore, kCount>(warp, slots, at);
  if constexpr (kCount == 1 && sizeof(Memory) == 4) {
    if (pattern.shape == LanePattern::Shape::pieces) return move_pieces<kStore>(warp, slots[0], pattern, at);
  }
  move_scattered<Memory, Element, kStore, kCount>(warp, slots, pattern, at);
}

/// `Memory` is the type in memory, `Element` the type in a lane of the register slot; element i is in slots[i].
template <typename Memory, typename Element, bool kStore>
void move_data(const WarpState& warp, const Slot* slots, int elements, const LanePlaces& places) {
  for (int element = 0; element < elements; ++element) {
    const std::size_t at = sizeof(Memory) * static_cast<std::size_t>(element);
    if constexpr (kStore) {
      const auto* const source = warp.read<Element>(slots[element]);
      for (int lane = 0; lane < kLanes; ++lane) {
        if (((places.mask >> lane) & 1U) == 0) continue;
        const auto value = static_cast<std::make_unsigned_t<Memory>>(source[lane]);
        std::memcpy(places.at[lane] + at, &value, sizeof value);
      }
    } else {
      auto* const destination = warp.write<Element>(slots[element]);
      if (places.mask == warp.mask) {
        write_lanes(destination, warp.mask, [&](int lane) {
          Memory value;
          std::memcpy(&value, places.at[lane] + at, sizeof value);
          return extended<Element>(value);
        });
        continue;
      }
      for (int lane = 0; lane < kLanes; ++lane) {  // faulty lanes read zero
        if (((warp.mask >> lane) & 1U) == 0) continue;
        Memory value{};
        if (((places.mask >> lane) & 1U) != 0) std::memcpy(&value, places.at[lane] + at, sizeof value);
        destination[lane] = extended<Element>(value);
      }
    }
  }
}

/// Returns the lanes without a fault.
template <ptx::Space kSpace, typename Memory, typename Element, bool kStore>
LaneMask access_at(const WarpState& warp, const Operation& operation, const Addresses& addresses) {
  const int bytes = static_cast<int>(sizeof(Memory)) * operation.vector_elements;
  const LanePlaces places =
      reach<kSpace>(warp, operation, addresses, bytes, kStore ? AccessKind::store : AccessKind::load);
  move_data<Memory, Element, kStore>(warp, operation.operands, operation.vector_elements, places);
  return places.mask;
}

template <ptx::Space kSpace, typename Memory, typename Element, bool kStore, bool kWideAddress>
void execute_any_access(WarpState& warp, const Operation& operation) {
  const Addresses addresses =
      lane_addresses(warp, operation, operation.operands[operation.vector_elements], kWideAddress);
  if constexpr (kSpace == ptx::Space::generic) {
    for_each_space(warp, addresses, [&]<ptx::Space kActual>(const Addresses& selected) {
      access_at<kActual, Memory, Element, kStore>(warp, operation, selected);
    });
  } else {
    access_at<kSpace, Memory, Element, kStore>(warp, operation, addresses);
  }
}

/// Carries out the access if it has the pattern that is known of the instruction; otherwise does nothing and returns
/// false, and `reach` has to handle it. `first` is the first lane's address.
template <ptx::Space kSpace, typename Memory, typename Element, bool kStore, int kCount>
bool execute_known_access(const WarpState& warp, const Operation& operation, KnownPattern& known, std::uint64_t first) {
  constexpr int kBytes = static_cast<int>(sizeof(Memory)) * kCount;
  std::byte* const at =
      reach_known<kSpace>(warp, operation, known, first, kBytes, kStore ? AccessKind::store : AccessKind::load);
  if (at == nullptr) return false;
  move_known<Memory, Element, kStore, kCount>(warp, operation.operands, *known.pattern, at);
  return true;
}

/// Carries out an access that has another pattern or a fault.
template <ptx::Space kSpace, typename Memory, typename Element, bool kStore, bool kWideAddress, int kCount>
[[gnu::noinline]] void execute_other_access(const WarpState& warp, const Operation& operation, KnownPattern& known) {
  constexpr int kBytes = static_cast<int>(sizeof(Memory)) * kCount;
  constexpr AccessKind kKind = kStore ? AccessKind::store : AccessKind::load;
  const Addresses addresses = lane_addresses(warp, operation, operation.operands[kCount], kWideAddress);
  BlockContext& block = *warp.block;
  const auto instruction = static_cast<std::size_t>(operation.instruction);
  if (block.patterns.recall(known, block.counters[instruction], kSpace, addresses, warp.mask, kBytes, kKind)) {
    const std::uint64_t first = addresses[static_cast<std::size_t>(known.pattern->first_lane())];
    if (execute_known_access<kSpace, Memory, Element, kStore, kCount>(warp, operation, known, first)) return;
  }
  const LaneMask right = access_at<kSpace, Memory, Element, kStore>(warp, operation, addresses);
  if (right != warp.mask || !block.observers.empty()) return;  // observers must see every access
  block.patterns.learn(known, kSpace, addresses, right, kBytes, kKind);
}

template <ptx::Space kSpace, typename Memory, typename Element, bool kStore, bool kWideAddress, int kCount>
void execute_access(WarpState& warp, const Operation& operation) {
  using Address = std::conditional_t<kWideAddress, std::uint64_t, std::uint32_t>;
  KnownPattern& known = warp.block->known_patterns[operation.instruction];
  const LanePattern& pattern = *known.pattern;
  const auto* const base = warp.read<Address>(operation.operands[kCount]);
  if (pattern.mask == warp.mask && lies_so(pattern, base)) {
    const auto first = static_cast<Address>(base[pattern.first_lane()] + static_cast<Address>(operation.offset));
    if (execute_known_access<kSpace, Memory, Element, kStore, kCount>(warp, operation, known, first)) return;
  }
  execute_other_access<kSpace, Memory, Element, kStore, kWideAddress, kCount>(warp, operation, known);
}

/// Carries out an access of several warps, each with patterns of its own. Of the counts, only the requests of stores
/// have to be right.
template <ptx::Space kSpace, typename Memory, typename Element, bool kStore, bool kWideAddress, int kCount>
void execute_access_in_lockstep(const WarpsInLockstep& group, const Operation& operation) {
  using Address = std::conditional_t<kWideAddress, std::uint64_t, std::uint32_t>;
  constexpr int kBytes = static_cast<int>(sizeof(Memory)) * kCount;
  constexpr AccessKind kKind = kStore ? AccessKind::store : AccessKind::load;
  BlockContext& block = *group.warps[0]->block;
  const OperandInLockstep<const Address> address(group, operation.operands[kCount]);
  KnownPattern* const of_warps =
      block.patterns_in_lockstep.data() +
      std::size_t{BlockContext::kMostWarps} * static_cast<std::size_t>(operation.instruction);
  const auto count = static_cast<std::size_t>(group.count);
  for (std::size_t i = 0; i < count; ++i) {
    const WarpState& warp = *group.warps[i];
    KnownPattern& known = of_warps[warp.index];
    const LanePattern& pattern = *known.pattern;
    const Address* const base = address.of(group.apart[i]);
    if (pattern.mask == warp.mask && lies_so(pattern, base)) {
      const auto first = static_cast<Address>(base[pattern.first_lane()] + static_cast<Address>(operation.offset));
      if (std::byte* const at = known_place<kSpace>(block, operation, pattern, first, kBytes, kKind)) {
        move_known<Memory, Element, kStore, kCount>(warp, operation.operands, pattern, at);
        ++known.uses;
        if constexpr (kStore) ++block.counters[static_cast<std::size_t>(operation.instruction)].requests;
        continue;
      }
    }
    execute_other_access<kSpace, Memory, Element, kStore, kWideAddress, kCount>(warp, operation, known);
  }
}

/// Moves eight elements of 32 bits. An operation has fewer operands, so the elements are in the operand lists, and the
/// address is the first operand.
template <ptx::Space kSpace, bool kStore, bool kWideAddress>
void execute_access_of_eight(WarpState& warp, const Operation& operation) {
  const Addresses addresses = lane_addresses(warp, operation, operation.operands[0], kWideAddress);
  const Slot* const slots = warp.block->program->operand_lists.data() + operation.list;
  const auto access = [&]<ptx::Space kActual>(const Addresses& selected) {
    const LanePlaces places =
        reach<kActual>(warp, operation, selected, 32, kStore ? AccessKind::store : AccessKind::load);
    move_data<std::uint32_t, std::uint32_t, kStore>(warp, slots, 8, places);
  };
  if constexpr (kSpace == ptx::Space::generic) {
    for_each_space(warp, addresses, access);
  } else {
    access.template operator()<kSpace>(addresses);
  }
}

// --- from opcode to handler ----------------------------------------------------------------------------------------

/// The handlers of an access for one warp and for several.
struct Handlers {
  Handler one = nullptr;
  LockstepHandler lockstep = nullptr;
};

template <ptx::Space kSpace, typename Memory, typename Element, bool kStore, bool kWideAddress, int kCount>
Handlers pattern_handlers() {
  return {&execute_access<kSpace, Memory, Element, kStore, kWideAddress, kCount>,
          &execute_access_in_lockstep<kSpace, Memory, Element, kStore, kWideAddress, kCount>};
}

/// Chooses the handlers. Vectors of more than 16 bytes are handled elsewhere, and vectors of narrow elements are rare.
template <ptx::Space kSpace, typename Memory, typename Element, bool kStore, bool kWideAddress>
Handlers handler_of(int elements) {
  if constexpr (has_patterns(kSpace)) {
    if (elements == 1) return pattern_handlers<kSpace, Memory, Element, kStore, kWideAddress, 1>();
    if constexpr (sizeof(Memory) >= 4) {
      if (elements == 2) return pattern_handlers<kSpace, Memory, Element, kStore, kWideAddress, 2>();
    }
    if constexpr (sizeof(Memory) == 4) {
      if (elements == 4) return pattern_handlers<kSpace, Memory, Element, kStore, kWideAddress, 4>();
    }
  }
  return {&execute_any_access<kSpace, Memory, Element, kStore, kWideAddress>};
}

template <ptx::Space kSpace, typename Memory, typename Element>
Handlers handler_of(const MemoryAccess& access, bool wide_address) {
  const int elements = access.vector_elements;
  if constexpr (kSpace != ptx::Space::param && kSpace != ptx::Space::constant) {  // these are read only
    if (access.is_store) {
      return wide_address ? handler_of<kSpace, Memory, Element, true, true>(elements)
                          : handler_of<kSpace, Memory, Element, true, false>(elements);
    }
  }
  return wide_address ? handler_of<kSpace, Memory, Element, false, true>(elements)
                      : handler_of<kSpace, Memory, Element, false, false>(elements);
}

template <ptx::Space kSpace>
Handlers handler_of(const MemoryAccess& access, bool wide_address) {
  const bool is_signed = access.type.type_class == ptx::TypeClass::signed_;
  switch (access.type.bits) {
    case 8:
      return is_signed ? handler_of<kSpace, std::int8_t, std::uint32_t>(access, wide_address)
                       : handler_of<kSpace, std::uint8_t, std::uint32_t>(access, wide_address);
    case 16:
      return is_signed ? handler_of<kSpace, std::int16_t, std::uint32_t>(access, wide_address)
                       : handler_of<kSpace, std::uint16_t, std::uint32_t>(access, wide_address);
    case 32:
      return handler_of<kSpace, std::uint32_t, std::uint32_t>(access, wide_address);
    default:
      return handler_of<kSpace, std::uint64_t, std::uint64_t>(access, wide_address);
  }
}

template <ptx::Space kSpace>
Handlers handler_of_eight(const MemoryAccess& access, bool wide_address) {
  if (access.is_store) {
    return {wide_address ? &execute_access_of_eight<kSpace, true, true>
                         : &execute_access_of_eight<kSpace, true, false>};
  }
  return {wide_address ? &execute_access_of_eight<kSpace, false, true>
                       : &execute_access_of_eight<kSpace, false, false>};
}

Handlers memory_handler(const MemoryAccess& access, bool address_is_64_bit) {
  if (access.vector_elements == 8) {
    return access.space == ptx::Space::global ? handler_of_eight<ptx::Space::global>(access, address_is_64_bit)
                                              : handler_of_eight<ptx::Space::generic>(access, address_is_64_bit);
  }
  switch (access.space) {
    case ptx::Space::shared:
      return handler_of<ptx::Space::shared>(access, address_is_64_bit);
    case ptx::Space::local:
      return handler_of<ptx::Space::local>(access, address_is_64_bit);
    case ptx::Space::param:
      return handler_of<ptx::Space::param>(access, address_is_64_bit);
    case ptx::Space::generic:
      return handler_of<ptx::Space::generic>(access, address_is_64_bit);
    case ptx::Space::constant:
      return handler_of<ptx::Space::constant>(access, address_is_64_bit);
    case ptx::Space::global:
    case ptx::Space::call_param:  // has no addresses: see call_parameters.cpp
      break;
  }
  return handler_of<ptx::Space::global>(access, address_is_64_bit);
}

std::vector<Slot> decode_elements(InstructionDecoder& decoder, const MemoryAccess& access, const ptx::Operand& value) {
  const std::vector<ptx::Operand> single{value};
  const std::vector<ptx::Operand>& elements = value.kind == ptx::OperandKind::vector ? value.elements : single;
  if (elements.size() != static_cast<std::size_t>(access.vector_elements)) {
    decoder.fail(fmt::format("expected {} elements, found {}", access.vector_elements, elements.size()));
  }
  const int bits = access.type.bits <= 32 ? 32 : 64;
  const bool sign_extended = access.type.type_class == ptx::TypeClass::signed_;
  std::vector<Slot> slots;
  slots.reserve(elements.size());
  for (const ptx::Operand& element : elements) {
    slots.push_back(access.is_store ? decoder.read(element, bits) : decoder.write_narrow(element, bits, sign_extended));
  }
  return slots;
}

}  // namespace

bool decode_memory_access(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  const auto access = parse_memory_access(instruction.opcode);
  if (!access) return false;
  const std::size_t count = instruction.operands.size();
  if (count != (access->has_policy ? 3 : 2)) {
    decoder.fail(access->has_policy ? "expected an address, a value and a cache policy"
                                    : "expected an address and a value");
  }
  const ptx::Operand& value = instruction.operands[access->is_store ? 1 : 0];
  std::vector<Slot> slots;
  if (access->is_128_bit) {
    const auto halves = access->is_store ? decoder.read_128_bits(value) : decoder.write_128_bits(value);
    slots.assign(halves.begin(), halves.end());
  } else {
    slots = decode_elements(decoder, *access, value);
  }
  Operation operation;
  operation.vector_elements = static_cast<std::uint8_t>(slots.size());
  const auto [address, wide] =
      decoder.address(instruction.operands[access->is_store ? 0 : 1], access->space, operation);
  if (access->vector_elements == 8) {
    operation.list = decoder.keep_operands(slots);
    operation.operands[0] = address;
  } else {
    std::ranges::copy(slots, operation.operands);
    operation.operands[slots.size()] = address;
  }
  if (access->has_policy) static_cast<void>(decoder.read(instruction.operands[2], 64));
  if (access->meets_other_blocks) decoder.require_block_order();
  const Handlers handlers = memory_handler(*access, wide);
  operation.handler = handlers.one;
  decoder.emit(operation, handlers.lockstep);
  decoder.finish_writes();
  return true;
}

}  // namespace convladder::simulated
