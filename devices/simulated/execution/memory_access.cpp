#include "devices/simulated/execution/memory_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "devices/simulated/execution/instruction_decoder.hpp"
#include "devices/simulated/execution/lane_access.hpp"

namespace convladder::simulated {
namespace {

/// `Memory` is the type in memory, `Element` what a lane of the register slot holds.
template <typename Memory, typename Element, bool kStore>
void move_data(const WarpState& warp, const Operation& operation, const LanePlaces& places) {
  for (int element = 0; element < operation.vector_elements; ++element) {
    const std::size_t at = sizeof(Memory) * static_cast<std::size_t>(element);
    if constexpr (kStore) {
      const auto* const source = warp.read<Element>(operation.operands[element]);
      for (int lane = 0; lane < kLanes; ++lane) {
        if (((places.mask >> lane) & 1U) == 0) continue;
        const auto value = static_cast<std::make_unsigned_t<Memory>>(source[lane]);
        std::memcpy(places.at[lane] + at, &value, sizeof value);
      }
    } else {
      auto* const destination = warp.write<Element>(operation.operands[element]);
      if (places.mask == warp.mask) {
        write_lanes(destination, warp.mask, [&](int lane) {
          Memory value;
          std::memcpy(&value, places.at[lane] + at, sizeof value);
          return static_cast<Element>(value);  // signed types extend their sign
        });
        continue;
      }
      for (int lane = 0; lane < kLanes; ++lane) {  // some were faulty: they read zero
        if (((warp.mask >> lane) & 1U) == 0) continue;
        Memory value{};
        if (((places.mask >> lane) & 1U) != 0) std::memcpy(&value, places.at[lane] + at, sizeof value);
        destination[lane] = static_cast<Element>(value);
      }
    }
  }
}

template <ptx::Space kSpace, typename Memory, typename Element, bool kStore>
void access_at(const WarpState& warp, const Operation& operation, const Addresses& addresses) {
  const int bytes = static_cast<int>(sizeof(Memory)) * operation.vector_elements;
  const LanePlaces places =
      reach<kSpace>(warp, operation, addresses, bytes, kStore ? AccessKind::store : AccessKind::load);
  move_data<Memory, Element, kStore>(warp, operation, places);
}

template <ptx::Space kSpace, typename Memory, typename Element, bool kStore, bool kWideAddress>
void execute_access(WarpState& warp, const Operation& operation) {
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

Handler memory_handler(const MemoryAccess& access, bool address_is_64_bit) {
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

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Hints about caches and ordering that change nothing here: one block runs at a time on a simulated multiprocessor,
/// and its accesses take effect at once.
bool is_hint(std::string_view modifier) {
  constexpr std::string_view hints[] = {"nc", "ca",       "cg",   "cs",      "lu",  "cv",  "wb",
                                        "wt", "volatile", "weak", "relaxed", "cta", "gpu", "sys"};
  return std::ranges::find(hints, modifier) != std::end(hints) || modifier.starts_with("L1::") ||
         modifier.starts_with("L2::");
}

}  // namespace

std::optional<MemoryAccess> parse_memory_access(std::string_view opcode) {
  const std::vector<std::string_view> parts = split(opcode);
  if (parts.front() != "ld" && parts.front() != "ldu" && parts.front() != "st") return std::nullopt;
  MemoryAccess access;
  access.is_store = parts.front() == "st";
  const auto type = ptx::type_of_suffix(fmt::format(".{}", parts.back()));
  if (!type || type->type_class == ptx::TypeClass::predicate || type->bits > 64) return std::nullopt;
  access.type = *type;
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part == "global") {
      access.space = ptx::Space::global;
    } else if (part == "shared" || part == "shared::cta") {
      access.space = ptx::Space::shared;
    } else if (part == "local") {
      access.space = ptx::Space::local;
    } else if (part == "const") {
      access.space = ptx::Space::constant;
    } else if (part == "param") {
      access.space = ptx::Space::param;
    } else if (part == "v2" || part == "v4") {
      access.vector_elements = part == "v2" ? 2 : 4;
    } else if (!is_hint(part)) {
      return std::nullopt;
    }
  }
  const bool read_only = access.space == ptx::Space::constant || access.space == ptx::Space::param;
  if ((access.is_store && read_only) || access.vector_elements * access.type.bytes() > 16) return std::nullopt;
  return access;
}

bool decode_memory_access(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  const auto access = parse_memory_access(instruction.opcode);
  if (!access) return false;
  if (instruction.operands.size() != 2) decoder.fail("expected an address and a value");
  const ptx::Operand& value = instruction.operands[access->is_store ? 1 : 0];
  Operation operation;
  operation.vector_elements = static_cast<std::uint8_t>(access->vector_elements);
  const std::vector<ptx::Operand> single{value};
  const std::vector<ptx::Operand>& elements = value.kind == ptx::OperandKind::vector ? value.elements : single;
  if (elements.size() != static_cast<std::size_t>(access->vector_elements)) {
    decoder.fail(fmt::format("expected {} elements, found {}", access->vector_elements, elements.size()));
  }
  const int bits = access->type.bits <= 32 ? 32 : 64;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (access->is_store) {
      operation.operands[i] = decoder.read(elements[i], bits);
      continue;
    }
    const bool sign_extended = access->type.type_class == ptx::TypeClass::signed_;
    operation.operands[i] = decoder.write_narrow(elements[i], bits, sign_extended);
  }
  const auto [slot, wide] = decoder.address(instruction.operands[access->is_store ? 0 : 1], access->space, operation);
  operation.operands[operation.vector_elements] = slot;
  operation.handler = memory_handler(*access, wide);
  decoder.emit(operation);
  decoder.finish_writes();
  return true;
}

}  // namespace convladder::simulated
