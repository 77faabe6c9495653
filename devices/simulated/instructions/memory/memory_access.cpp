#include "devices/simulated/instructions/memory/memory_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "devices/simulated/instructions/instruction_decoder.hpp"
#include "devices/simulated/state/lane_access.hpp"
#include "devices/simulated/state/row_access.hpp"

namespace convladder::simulated {
namespace {

/// As a lane of a register slot holds it: signed types by their sign.
template <typename Element, typename Memory>
Element extended(Memory value) {
  return static_cast<Element>(value);
}

/// `kCount` elements of every lane, which lie one behind the other.
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

/// Elements that are the same for every lane. Of stores the last lane's stays.
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

/// Elements of every lane; the lanes lie `step` bytes apart.
template <typename Memory, typename Element, bool kStore>
void move_strided(const WarpState& warp, const Slot* slots, int elements, std::byte* first, std::int64_t step) {
  for (int element = 0; element < elements; ++element, first += sizeof(Memory)) {
    for (int lane = 0; lane < kLanes; ++lane) {
      Memory value;
      if constexpr (kStore) {
        value = static_cast<Memory>(warp.read<Element>(slots[element])[lane]);
        std::memcpy(first + lane * step, &value, sizeof value);
      } else {
        std::memcpy(&value, first + lane * step, sizeof value);
        warp.write<Element>(slots[element])[lane] = extended<Element>(value);
      }
    }
  }
}

/// The access if it is a row; false if it is not, and nothing has been done.
template <ptx::Space kSpace, typename Memory, typename Element, bool kStore, typename Address>
bool access_row(const WarpState& warp, const Operation& operation) {
  const int elements = operation.vector_elements;
  const int bytes = static_cast<int>(sizeof(Memory)) * elements;
  if (bytes > 16) return false;
  const auto row = address_row<kSpace>(warp, operation, warp.read<Address>(operation.operands[elements]), bytes);
  if (!row) return false;
  std::byte* const at = reach_row<kSpace>(warp, operation, *row, bytes, kStore ? AccessKind::store : AccessKind::load);
  if (at == nullptr) return false;
  const Slot* const slots = operation.operands;
  if (row->step == 0) {
    move_same<Memory, Element, kStore>(warp, slots, elements, at);
  } else if (row->step != bytes) {
    move_strided<Memory, Element, kStore>(warp, slots, elements, at, row->step);
  } else if (elements == 1) {
    move_row<Memory, Element, kStore, 1>(warp, slots, at);
  } else if (elements == 2) {
    move_row<Memory, Element, kStore, 2>(warp, slots, at);
  } else {
    move_row<Memory, Element, kStore, 4>(warp, slots, at);
  }
  return true;
}

/// `Memory` is the type in memory, `Element` what a lane of the register slot holds; element i is in slots[i].
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
      for (int lane = 0; lane < kLanes; ++lane) {  // some were faulty: they read zero
        if (((warp.mask >> lane) & 1U) == 0) continue;
        Memory value{};
        if (((places.mask >> lane) & 1U) != 0) std::memcpy(&value, places.at[lane] + at, sizeof value);
        destination[lane] = extended<Element>(value);
      }
    }
  }
}

template <ptx::Space kSpace, typename Memory, typename Element, bool kStore>
void access_at(const WarpState& warp, const Operation& operation, const Addresses& addresses) {
  const int bytes = static_cast<int>(sizeof(Memory)) * operation.vector_elements;
  const LanePlaces places =
      reach<kSpace>(warp, operation, addresses, bytes, kStore ? AccessKind::store : AccessKind::load);
  move_data<Memory, Element, kStore>(warp, operation.operands, operation.vector_elements, places);
}

template <ptx::Space kSpace, typename Memory, typename Element, bool kStore, bool kWideAddress>
void execute_access(WarpState& warp, const Operation& operation) {
  if constexpr (kSpace != ptx::Space::generic && kSpace != ptx::Space::local) {
    using Address = std::conditional_t<kWideAddress, std::uint64_t, std::uint32_t>;
    if (access_row<kSpace, Memory, Element, kStore, Address>(warp, operation)) return;
  }
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

/// Eight elements of 32 bits: more than an operation has operands, so they are in the operand lists, and the address is
/// the first operand.
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

template <ptx::Space kSpace, typename Memory, typename Element>
Handler handler_of(bool is_store, bool wide_address) {
  if constexpr (kSpace == ptx::Space::param || kSpace == ptx::Space::constant) {  // read only
    return wide_address ? &execute_access<kSpace, Memory, Element, false, true>
                        : &execute_access<kSpace, Memory, Element, false, false>;
  } else {
    if (is_store) {
      return wide_address ? &execute_access<kSpace, Memory, Element, true, true>
                          : &execute_access<kSpace, Memory, Element, true, false>;
    }
    return wide_address ? &execute_access<kSpace, Memory, Element, false, true>
                        : &execute_access<kSpace, Memory, Element, false, false>;
  }
}

template <ptx::Space kSpace>
Handler handler_of(const MemoryAccess& access, bool wide_address) {
  const bool is_signed = access.type.type_class == ptx::TypeClass::signed_;
  switch (access.type.bits) {
    case 8:
      return is_signed ? handler_of<kSpace, std::int8_t, std::uint32_t>(access.is_store, wide_address)
                       : handler_of<kSpace, std::uint8_t, std::uint32_t>(access.is_store, wide_address);
    case 16:
      return is_signed ? handler_of<kSpace, std::int16_t, std::uint32_t>(access.is_store, wide_address)
                       : handler_of<kSpace, std::uint16_t, std::uint32_t>(access.is_store, wide_address);
    case 32:
      return handler_of<kSpace, std::uint32_t, std::uint32_t>(access.is_store, wide_address);
    default:
      return handler_of<kSpace, std::uint64_t, std::uint64_t>(access.is_store, wide_address);
  }
}

template <ptx::Space kSpace>
Handler handler_of_eight(const MemoryAccess& access, bool wide_address) {
  if (access.is_store) {
    return wide_address ? &execute_access_of_eight<kSpace, true, true> : &execute_access_of_eight<kSpace, true, false>;
  }
  return wide_address ? &execute_access_of_eight<kSpace, false, true> : &execute_access_of_eight<kSpace, false, false>;
}

Handler memory_handler(const MemoryAccess& access, bool address_is_64_bit) {
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
  operation.handler = memory_handler(*access, wide);
  decoder.emit(operation);
  decoder.finish_writes();
  return true;
}

}  // namespace convladder::simulated
