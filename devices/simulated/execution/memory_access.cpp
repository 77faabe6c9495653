#include "devices/simulated/execution/memory_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "devices/simulated/execution/block_context.hpp"

namespace convladder::simulated {
namespace {

/// The addresses of all lanes. Lanes that take no part carry the address of one that does, so that limits, alignment
/// and costs are computed over all lanes without looking at the mask.
using Addresses = std::array<std::uint64_t, kLanes>;

constexpr unsigned kSectorShift = 5;  // 32-byte sectors
constexpr unsigned kBanks = 32;       // of shared memory, 4 bytes wide each

/// Gives lanes outside of the mask the address of the nearest lane below them inside of it (ascending addresses stay
/// ascending), those below the first that of the first. The mask is not empty.
void fill_inactive(Addresses& addresses, LaneMask mask) {
  if (mask == kAllLanes) return;
  std::uint64_t last = addresses[std::countr_zero(mask)];
  for (int lane = 0; lane < kLanes; ++lane) {
    last = ((mask >> lane) & 1U) != 0 ? addresses[lane] : last;
    addresses[lane] = last;
  }
}

// --- what an access costs ------------------------------------------------------------------------------------------

/// Different sectors among the accesses of a request. An access is aligned to its size, so it lies in one sector.
std::uint64_t count_sectors(const Addresses& addresses) {
  std::uint64_t changes = 0;
  std::uint64_t descents = 0;
  for (int lane = 1; lane < kLanes; ++lane) {
    const std::uint64_t below = addresses[lane - 1] >> kSectorShift;
    const std::uint64_t sector = addresses[lane] >> kSectorShift;
    changes += static_cast<std::uint64_t>(sector != below);
    descents += static_cast<std::uint64_t>(sector < below);
  }
  if (descents == 0) return changes + 1;
  Addresses sectors = addresses;
  for (std::uint64_t& sector : sectors) sector >>= kSectorShift;
  std::ranges::sort(sectors);
  return static_cast<std::uint64_t>(kLanes - std::ranges::unique(sectors).size());
}

/// The most words that any bank is asked for, where all words lie in kRows rows of banks from the first on: a bit map
/// of the words, whose rows are then added up bit by bit.
template <int kRows>
std::uint64_t most_words_of_a_bank(const std::array<std::uint32_t, kLanes>& word_from_low) {
  std::uint32_t ones = 0;
  std::uint32_t twos = 0;
  std::uint32_t fours = 0;
  std::uint32_t eights = 0;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    std::uint32_t banks = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      banks |= word_from_low[lane] / kBanks == row ? std::uint32_t{1} << (word_from_low[lane] % kBanks) : 0;
    }
    const std::uint32_t to_twos = ones & banks;
    ones ^= banks;
    const std::uint32_t to_fours = twos & to_twos;
    twos ^= to_twos;
    eights |= fours & to_fours;
    fours ^= to_fours;
  }
  static_assert(kRows <= 8);
  std::uint64_t most = 0;
  std::uint32_t candidates = ~std::uint32_t{0};
  for (const auto& [digit, value] : {std::pair{eights, 8}, {fours, 4}, {twos, 2}, {ones, 1}}) {
    if ((candidates & digit) == 0) continue;
    candidates &= digit;
    most += static_cast<std::uint64_t>(value);
  }
  return most;
}

/// Passes that an access of one word a lane needs: the most different words that one bank is asked for. Lanes that ask
/// for the same word share it.
std::uint64_t count_word_passes(const Addresses& addresses) {
  std::uint64_t low = addresses[0];
  std::uint64_t high = addresses[0];
  for (int lane = 1; lane < kLanes; ++lane) {
    low = std::min(low, addresses[lane]);
    high = std::max(high, addresses[lane]);
  }
  const std::uint64_t span = (high >> 2) - (low >> 2);
  if (span < kBanks) return 1;  // one row of banks, wherever it begins
  std::array<std::uint32_t, kLanes> word;
  for (int lane = 0; lane < kLanes; ++lane)
    word[lane] = static_cast<std::uint32_t>((addresses[lane] >> 2) - (low >> 2));
  if (span < 2 * kBanks) return most_words_of_a_bank<2>(word);
  if (span < 8 * kBanks) return most_words_of_a_bank<8>(word);
  std::ranges::sort(word);
  std::array<std::uint8_t, kBanks> words_of_bank{};
  std::uint8_t most = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (lane > 0 && word[lane] == word[lane - 1]) continue;
    most = std::max(most, ++words_of_bank[word[lane] % kBanks]);
  }
  return most;
}

/// A warp's access of 8 bytes a lane is served in two halves, one of 16 bytes in four quarters, each as an access of 32
/// words. Parts without an active lane cost nothing.
std::uint64_t count_wavefronts(const Addresses& addresses, LaneMask mask, int bytes) {
  if (bytes <= 4) return count_word_passes(addresses);
  const int words = bytes / 4;
  const int lanes = kLanes / words;
  std::uint64_t passes = 0;
  for (int first = 0; first < kLanes; first += lanes) {
    if ((mask & (((LaneMask{1} << lanes) - 1) << first)) == 0) continue;
    Addresses of_words;
    for (int i = 0; i < kLanes; ++i) of_words[i] = addresses[first + i / words] + 4U * static_cast<unsigned>(i % words);
    passes += count_word_passes(of_words);
  }
  return passes;
}

// --- where an access goes ------------------------------------------------------------------------------------------

Addresses lane_addresses(const WarpState& warp, const Operation& operation, Slot slot, bool is_64_bit) {
  Addresses addresses;
  const auto offset = static_cast<std::uint64_t>(operation.offset);
  if (is_64_bit) {
    const auto* base = warp.read<std::uint64_t>(slot);
    for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = base[lane] + offset;
  } else {
    const auto* base = warp.read<std::uint32_t>(slot);
    for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = base[lane] + offset;
  }
  fill_inactive(addresses, warp.mask);
  return addresses;
}

void check_alignment(const WarpState& warp, const Operation& operation, const Addresses& addresses, int bytes) {
  std::uint64_t low_bits = 0;
  for (int lane = 0; lane < kLanes; ++lane) low_bits |= addresses[lane];
  if ((low_bits & static_cast<std::uint64_t>(bytes - 1)) == 0) return;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (((warp.mask >> lane) & 1U) == 0 || addresses[lane] % static_cast<std::uint64_t>(bytes) == 0) continue;
    warp.block->fault(warp, operation, lane,
                      fmt::format("misaligned access of {} bytes at 0x{:x}", bytes, addresses[lane]));
  }
}

std::pair<std::uint64_t, std::uint64_t> address_range(const Addresses& addresses) {
  std::uint64_t low = addresses[0];
  std::uint64_t high = addresses[0];
  for (int lane = 1; lane < kLanes; ++lane) {
    low = std::min(low, addresses[lane]);
    high = std::max(high, addresses[lane]);
  }
  return {low, high};
}

std::string place_in_memory(const DeviceMemory& memory, std::uint64_t address) {
  const Allocation* const allocation = memory.nearest(address);
  if (allocation == nullptr) return "below all allocations";
  const std::uint64_t bytes = allocation->end - allocation->begin;
  if (allocation->freed && address < allocation->end) {
    return fmt::format("inside of '{}', which was freed", allocation->label);
  }
  return fmt::format("{} bytes behind the end of '{}' ({} bytes)", address - allocation->end, allocation->label, bytes);
}

void check_global(const WarpState& warp, const Operation& operation, const Addresses& addresses, int bytes) {
  CachedRange& cached = warp.block->ranges[operation.instruction];
  const auto [low, high] = address_range(addresses);
  const std::uint64_t end = high + static_cast<std::uint64_t>(bytes);
  if (cached.begin <= low && end <= cached.end) return;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (((warp.mask >> lane) & 1U) == 0) continue;
    const Allocation* const allocation = warp.block->memory->find(addresses[lane]);
    if (allocation == nullptr || addresses[lane] + static_cast<std::uint64_t>(bytes) > allocation->end) {
      warp.block->fault(warp, operation, lane,
                        fmt::format("access of {} bytes at 0x{:x}, {}", bytes, addresses[lane],
                                    place_in_memory(*warp.block->memory, addresses[lane])));
    }
    if (allocation->contains(low, end)) cached = {allocation->begin, allocation->end};
  }
}

/// Shared or local memory: offsets from 0 to before `size`.
void check_bounds(const WarpState& warp, const Operation& operation, const Addresses& addresses, int bytes,
                  std::size_t size, const char* space) {
  const auto [low, high] = address_range(addresses);
  if (high <= size && static_cast<std::uint64_t>(bytes) <= size - high) return;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (((warp.mask >> lane) & 1U) == 0) continue;
    if (addresses[lane] <= size && static_cast<std::uint64_t>(bytes) <= size - addresses[lane]) continue;
    warp.block->fault(warp, operation, lane,
                      fmt::format("access of {} bytes at offset {} of {} bytes of {} memory", bytes,
                                  static_cast<std::int64_t>(addresses[lane]), size, space));
  }
}

// --- moving the data -----------------------------------------------------------------------------------------------

/// `Memory` is the type in memory, `Element` what a lane of the register slot holds.
template <typename Memory, typename Element>
void move_data(const WarpState& warp, const Operation& operation, bool is_store,
               const std::array<std::byte*, kLanes>& places) {
  for (int element = 0; element < operation.vector_elements; ++element) {
    const std::size_t at = sizeof(Memory) * static_cast<std::size_t>(element);
    if (is_store) {
      const Element* const source = warp.read<Element>(operation.operands[element]);
      for (int lane = 0; lane < kLanes; ++lane) {
        if (((warp.mask >> lane) & 1U) == 0) continue;
        const auto value = static_cast<std::make_unsigned_t<Memory>>(source[lane]);
        std::memcpy(places[lane] + at, &value, sizeof value);
      }
    } else {
      Element* const destination = warp.write<Element>(operation.operands[element]);
      // Lanes that take no part have a valid place as well (fill_inactive).
      write_lanes(destination, warp.mask, [&](int lane) {
        Memory value;
        std::memcpy(&value, places[lane] + at, sizeof value);
        return static_cast<Element>(value);  // signed types extend their sign
      });
    }
  }
}

void count_access(const WarpState& warp, const Operation& operation, std::uint64_t bytes) {
  InstructionCounters& counters = warp.block->counters[operation.instruction];
  ++counters.requests;
  counters.bytes += bytes * static_cast<std::uint64_t>(std::popcount(warp.mask));
}

template <ptx::Space kSpace>
std::array<std::byte*, kLanes> places_in(const WarpState& warp, const Operation& operation, const Addresses& addresses,
                                         int bytes) {
  BlockContext& block = *warp.block;
  std::array<std::byte*, kLanes> places;
  if constexpr (kSpace == ptx::Space::shared) {
    check_bounds(warp, operation, addresses, bytes, block.shared.size(), "shared");
    for (int lane = 0; lane < kLanes; ++lane) places[lane] = block.shared.data() + addresses[lane];
    block.counters[operation.instruction].wavefronts += count_wavefronts(addresses, warp.mask, bytes);
  } else if constexpr (kSpace == ptx::Space::local) {
    const std::uint64_t size = block.program->local_bytes;
    check_bounds(warp, operation, addresses, bytes, size, "local");
    std::byte* const warp_local = block.local.data() + static_cast<std::uint64_t>(warp.index) * kLanes * size;
    for (int lane = 0; lane < kLanes; ++lane) {
      places[lane] = warp_local + static_cast<std::uint64_t>(lane) * size + addresses[lane];
    }
  } else {
    check_global(warp, operation, addresses, bytes);
    for (int lane = 0; lane < kLanes; ++lane) places[lane] = block.memory->host(addresses[lane]);
    block.counters[operation.instruction].sectors += count_sectors(addresses);
  }
  return places;
}

template <ptx::Space kSpace, typename Memory, typename Element, bool kStore>
void access_at(const WarpState& warp, const Operation& operation, const Addresses& addresses) {
  const int bytes = static_cast<int>(sizeof(Memory)) * operation.vector_elements;
  check_alignment(warp, operation, addresses, bytes);
  const auto places = places_in<kSpace>(warp, operation, addresses, bytes);
  count_access(warp, operation, static_cast<std::uint64_t>(bytes));
  for (AccessObserver* const observer : warp.block->observers) {
    observer->access({&operation, &warp, kSpace, &addresses, bytes, kStore, false});
  }
  move_data<Memory, Element>(warp, operation, kStore, places);
}

/// A generic address tells its space by its window; the lanes of a warp may differ.
template <typename Memory, typename Element, bool kStore>
void access_generic(WarpState& warp, const Operation& operation, Addresses addresses) {
  LaneMask shared = 0;
  LaneMask local = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t window = addresses[lane] & ~((std::uint64_t{1} << 40) - 1);
    shared |= LaneMask{window == kSharedWindow} << lane;
    local |= LaneMask{window == kLocalWindow} << lane;
    if (window == kSharedWindow || window == kLocalWindow) addresses[lane] -= window;
  }
  const LaneMask all = warp.mask;
  const auto with_lanes = [&](LaneMask lanes, auto access) {
    warp.mask = all & lanes;
    if (warp.mask == 0) return;
    Addresses of_lanes = addresses;
    fill_inactive(of_lanes, warp.mask);
    access(warp, operation, of_lanes);
  };
  with_lanes(shared, access_at<ptx::Space::shared, Memory, Element, kStore>);
  with_lanes(local, access_at<ptx::Space::local, Memory, Element, kStore>);
  with_lanes(~(shared | local), access_at<ptx::Space::global, Memory, Element, kStore>);
  warp.mask = all;
}

/// Parameters are the same for all threads, and so is their address as a rule: an offset and no register.
template <typename Memory, typename Element>
void load_parameter(const WarpState& warp, const Operation& operation, const Addresses& addresses) {
  const int bytes = static_cast<int>(sizeof(Memory)) * operation.vector_elements;
  check_bounds(warp, operation, addresses, bytes, warp.block->program->parameter_bytes, "parameter");
  std::array<std::byte*, kLanes> places;
  // Only loads come here.
  auto* const parameters = const_cast<std::byte*>(warp.block->parameters);
  for (int lane = 0; lane < kLanes; ++lane) places[lane] = parameters + addresses[lane];
  move_data<Memory, Element>(warp, operation, false, places);
}

template <ptx::Space kSpace, typename Memory, typename Element, bool kStore, bool kWideAddress>
void execute_access(WarpState& warp, const Operation& operation) {
  const Addresses addresses =
      lane_addresses(warp, operation, operation.operands[operation.vector_elements], kWideAddress);
  if constexpr (kSpace == ptx::Space::param) {
    load_parameter<Memory, Element>(warp, operation, addresses);
  } else if constexpr (kSpace == ptx::Space::generic) {
    access_generic<Memory, Element, kStore>(warp, operation, addresses);
  } else {
    access_at<kSpace, Memory, Element, kStore>(warp, operation, addresses);
  }
}

// --- from opcode to handler ----------------------------------------------------------------------------------------

template <ptx::Space kSpace, typename Memory, typename Element>
Handler handler_of(bool is_store, bool wide_address) {
  if (is_store) {
    return wide_address ? &execute_access<kSpace, Memory, Element, true, true>
                        : &execute_access<kSpace, Memory, Element, true, false>;
  }
  return wide_address ? &execute_access<kSpace, Memory, Element, false, true>
                      : &execute_access<kSpace, Memory, Element, false, false>;
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
    case ptx::Space::global:
    case ptx::Space::constant:  // the module's constants lie in global memory
      break;
  }
  return handler_of<ptx::Space::global>(access, address_is_64_bit);
}

}  // namespace convladder::simulated
