#include "simulator/state/lane_access.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "simulator/caches/l1_cache.hpp"
#include "simulator/state/cluster.hpp"
#include "simulator/state/global_place.hpp"

namespace convladder::simulated {
namespace {

/// Kinds of faults, by which two findings of one instruction differ.
enum Fault { kMisaligned, kOutOfBounds, kReadOnly };

const char* verb(AccessKind kind) {
  return kind == AccessKind::load ? "read" : kind == AccessKind::store ? "write" : "atomic access";
}

constexpr const char* name_of(ptx::Space space) {
  switch (space) {
    case ptx::Space::shared:
      return "shared";
    case ptx::Space::local:
      return "local";
    case ptx::Space::constant:
      return "constant";
    case ptx::Space::param:
      return "parameter";
    default:
      return "global";
  }
}

template <typename Wrong>
LaneMask lanes_where(LaneMask mask, const Wrong& wrong) {
  LaneMask result = 0;
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (wrong(lane)) result |= LaneMask{1} << lane;
  }
  return result;
}

/// A load's bytes that are used, a bit each; 0: all.
std::uint32_t used_bytes(const Program& program, const Operation& operation, int bytes) {
  const std::uint32_t used = program.kernel->instructions[static_cast<std::size_t>(operation.instruction)].used_bytes;
  return bytes <= std::numeric_limits<std::uint32_t>::digits ? used : 0;
}

/// Puts copies of the first bytes in the place of what lanes load: the bytes behind them, which are not used, may lie
/// behind the end of the memory.
void leave_at(LanePlaces& places, int bytes) {
  thread_local std::array<std::array<std::byte, std::numeric_limits<std::uint32_t>::digits>, kLanes> copies;
  for (int lane = 0; lane < kLanes; ++lane) {
    std::memcpy(copies[lane].data(), places.at[lane], static_cast<std::size_t>(bytes));
    places.at[lane] = copies[lane].data();
  }
}

/// Tells observers of a load that is wider than what the program asked for: of each run of bytes that are used.
void tell_of_used_bytes(const WarpAccess& whole, std::uint32_t used) {
  for (int begin = 0, end = 0; begin < whole.bytes; begin = end) {
    const bool is_used = (used >> begin & 1U) != 0;
    while (end < whole.bytes && ((used >> end & 1U) != 0) == is_used) ++end;
    if (!is_used) continue;
    Addresses addresses = *whole.addresses;
    for (std::uint64_t& address : addresses) address += static_cast<std::uint64_t>(begin);
    WarpAccess part = whole;
    part.addresses = &addresses;
    part.bytes = end - begin;
    for (AccessObserver* const observer : whole.warp->block->observers) observer->access(part);
  }
}

/// An access that is being checked, from which faulty lanes are removed.
struct Checked {
  Addresses& addresses;
  LaneMask mask;
  AddressSpan span;

  /// Removes faulty lanes; returns whether any lane is left.
  bool drop(LaneMask faulty) {
    mask &= ~faulty;
    if (mask == 0) return false;
    fill_inactive(addresses, mask);
    span = address_span(addresses);
    return true;
  }
};

/// Describes an address that is far from all memory of the device.
std::string nobodys_place(std::uint64_t address) {
  constexpr std::uint64_t kNearNull = std::uint64_t{1} << 16;
  if (address == 0) return "a null pointer";
  if (address < kNearNull) return fmt::format("{} bytes behind a null pointer", address);
  if (address - kSharedWindow < kLocalWindow - kSharedWindow) return "an address of shared memory";
  if (address - kLocalWindow < kParameterWindow - kLocalWindow) return "an address of local memory";
  const bool may_be_of_host = address >> 47 == 0;
  return fmt::format("which is no memory of the device{}", may_be_of_host ? " (a pointer of the host?)" : "");
}

/// The place of an address at which no access can begin.
std::string place_in_memory(const DeviceMemory& memory, std::uint64_t address, std::string& label) {
  const Allocation* const below = memory.nearest(address);
  const Allocation* const above = memory.next(address);
  if (below != nullptr && address < below->end) {
    label = below->label;
    if (below->freed) return fmt::format("inside '{}', which was freed", below->label);
    if (memory.find(address) == nullptr && memory.reservation(address) != nullptr) {
      return fmt::format("inside '{}', which device {} was given no access to (cuMemSetAccess)", label,
                         memory.device());
    }
    if (memory.find(address) == nullptr) {
      return fmt::format("inside '{}', which is memory of device {} and out of reach of device {} (peer access)",
                         below->label, std::countr_zero(below->devices), memory.device());
    }
    return fmt::format("that begins inside '{}' and ends after it", below->label);
  }
  if (const Reservation* const reserved = memory.reservation(address)) {
    label = reserved->label;
    return fmt::format("inside the addresses of '{}', where nothing is mapped or access was not given", label);
  }
  constexpr std::uint64_t kNear = std::uint64_t{1} << 20;
  const auto is_far = [&] {
    return (below == nullptr || address - below->end > kNear) && (above == nullptr || above->begin - address > kNear);
  };
  // A wrong index may lead far from the window.
  constexpr std::uint64_t kReach = std::uint64_t{1} << 40;
  const bool is_by_window = address + kReach - kGlobalWindow < kReach + kGlobalWindowBytes + kReach;
  if (!is_by_window && is_far()) return nobodys_place(address);
  // The nearer allocation is more likely to be the intended one.
  if (above != nullptr && (below == nullptr || above->begin - address < address - below->end)) {
    label = above->label;
    return fmt::format("{} bytes before the start of '{}' ({} bytes{})", above->begin - address, above->label,
                       above->end - above->begin, above->freed ? ", freed" : "");
  }
  if (below == nullptr) return "outside all allocations";
  label = below->label;
  return fmt::format("{} bytes past the end of '{}' ({} bytes{})", address - below->end, below->label,
                     below->end - below->begin, below->freed ? ", freed" : "");
}

bool check_alignment(const WarpState& warp, const Operation& operation, Checked& access, int bytes, AccessKind kind,
                     const char* space) {
  const std::uint64_t wrong_bits = std::bit_ceil(static_cast<std::uint64_t>(bytes)) - 1;  // cp.async reads any number
  if ((access.span.bits & wrong_bits) == 0) return true;
  const Addresses& addresses = access.addresses;
  const LaneMask faulty = lanes_where(access.mask, [&](int lane) { return (addresses[lane] & wrong_bits) != 0; });
  warp.block->fault(warp, operation, Checker::memory, kMisaligned, faulty, [&](int lane) {
    const bool is_global = space == name_of(ptx::Space::global);
    std::string label;
    const std::string place =
        is_global ? ", " + global_place(*warp.block->memory, addresses[lane], label) : std::string();
    Finding finding =
        warp.block->finding_at(warp, operation, lane, Checker::memory,
                               fmt::format("misaligned {} of {} bytes at {}0x{:x}{}", verb(kind), bytes,
                                           is_global ? "" : fmt::format("{} offset ", space), addresses[lane], place));
    finding.allocation = label;
    finding.space = space;
    finding.address = addresses[lane];
    return finding;
  });
  return access.drop(faulty);
}

/// Whether accesses of `length` bytes at addresses from `low` to `high` are between `begin` and `end`. Addresses can be
/// any 64 bits, so no sum of an address and a length is computed, as it could wrap.
bool is_inside(std::uint64_t begin, std::uint64_t end, std::uint64_t low, std::uint64_t high, std::uint64_t length) {
  return begin <= low && high <= end && length <= end - high;
}

bool check_global(const WarpState& warp, const Operation& operation, Checked& access, int bytes, AccessKind kind) {
  CachedRange& cached = warp.block->ranges[operation.instruction];
  const std::uint64_t low = access.span.low;
  const std::uint64_t high = access.span.high;
  const auto length = static_cast<std::uint64_t>(bytes);
  if (is_inside(cached.begin, cached.end, low, high, length)) return true;
  const Addresses& addresses = access.addresses;
  const DeviceMemory& memory = *warp.block->memory;
  const LaneMask faulty = lanes_where(access.mask, [&](int lane) {
    const std::uint64_t address = addresses[lane];
    const Allocation* const allocation = memory.find(address);
    if (allocation == nullptr || !is_inside(allocation->begin, allocation->end, address, address, length)) return true;
    if (is_inside(allocation->begin, allocation->end, low, high, length)) cached = {allocation->begin, allocation->end};
    return false;
  });
  if (faulty == 0) return true;
  warp.block->fault(warp, operation, Checker::memory, kOutOfBounds, faulty, [&](int lane) {
    std::string label;
    const std::string place = place_in_memory(memory, addresses[lane], label);
    Finding finding =
        warp.block->finding_at(warp, operation, lane, Checker::memory,
                               fmt::format("{} of {} bytes at 0x{:x}, {}", verb(kind), bytes, addresses[lane], place));
    finding.space = "global";
    finding.address = addresses[lane];
    finding.allocation = label;
    return finding;
  });
  return access.drop(faulty);
}

/// An offset as a message shows it: those of 32 bits may be negative.
std::int64_t shown_offset(std::uint64_t offset) {
  return offset >> 32 == 0 ? static_cast<std::int32_t>(offset) : static_cast<std::int64_t>(offset);
}

/// Drops lanes that write parameters, which can only be read.
bool check_read_only(const WarpState& warp, const Operation& operation, Checked& access, AccessKind kind) {
  if (kind == AccessKind::load) return true;
  warp.block->fault(warp, operation, Checker::memory, kReadOnly, access.mask, [&](int lane) {
    return warp.block->finding_at(warp, operation, lane, Checker::memory,
                                  fmt::format("{} to the kernel's parameters", verb(kind)));
  });
  return access.drop(access.mask);
}

/// Drops lanes whose offsets are not from 0 to before `size`.
bool check_bounds(const WarpState& warp, const Operation& operation, Checked& access, int bytes, std::size_t size,
                  AccessKind kind, const char* space) {
  const auto length = static_cast<std::uint64_t>(bytes);
  if (access.span.high <= size && length <= size - access.span.high) return true;
  const Addresses& addresses = access.addresses;
  const LaneMask faulty =
      lanes_where(access.mask, [&](int lane) { return addresses[lane] > size || length > size - addresses[lane]; });
  warp.block->fault(warp, operation, Checker::memory, kOutOfBounds, faulty, [&](int lane) {
    Finding finding =
        warp.block->finding_at(warp, operation, lane, Checker::memory,
                               fmt::format("{} of {} bytes at offset {} of {} bytes of {} memory", verb(kind), bytes,
                                           shown_offset(addresses[lane]), size, space));
    finding.space = space;
    finding.address = addresses[lane];
    return finding;
  });
  return access.drop(faulty);
}

}  // namespace

std::string global_place(const DeviceMemory& memory, std::uint64_t address, std::string& label) {
  const Allocation* const allocation = memory.find(address);
  if (allocation == nullptr) return place_in_memory(memory, address, label);
  label = allocation->label;
  return fmt::format("byte {} of '{}' ({} bytes)", address - allocation->begin, allocation->label,
                     allocation->end - allocation->begin);
}

template <ptx::Space kSpace>
LanePlaces reach(const WarpState& warp, const Operation& operation, Addresses addresses, int bytes, AccessKind kind,
                 StoredData data) {
  BlockContext& block = *warp.block;
  LanePlaces places;
  Checked access{addresses, warp.mask, address_span(addresses)};
  bool beyond_block = false;
  const std::uint32_t used = kind == AccessKind::load ? used_bytes(*block.program, operation, bytes) : 0;
  const int reached = used == 0 ? bytes : static_cast<int>(std::bit_width(used));
  if constexpr (kSpace == ptx::Space::shared) {
    const bool has_ranks = block.cluster != nullptr && (block.rank != 0 || access.span.high >> kRankShift != 0);
    beyond_block = has_ranks && !make_own_offsets(block, operation, addresses);
    if (has_ranks && !beyond_block) access.span = address_span(addresses);
  }
  const auto is_right = [&] {
    if (!check_alignment(warp, operation, access, bytes, kind, name_of(kSpace))) return false;
    if constexpr (kSpace == ptx::Space::shared) {
      if (beyond_block) {
        access.mask = reach_cluster(warp, operation, addresses, access.mask, bytes, kind, places.at);
        return access.mask != 0;
      }
      return check_bounds(warp, operation, access, reached, block.shared.size(), kind, name_of(kSpace));
    } else if constexpr (kSpace == ptx::Space::local) {
      return check_bounds(warp, operation, access, reached, block.program->local_bytes, kind, name_of(kSpace));
    } else if constexpr (kSpace == ptx::Space::param) {
      return check_read_only(warp, operation, access, kind) &&
             check_bounds(warp, operation, access, reached, block.program->parameter_bytes, kind, name_of(kSpace));
    } else {
      return check_global(warp, operation, access, reached, kind);
    }
  };
  const bool any_left = is_right();
  places.mask = access.mask;
  if (!any_left) return places;

  InstructionCounters& counters = block.counters[operation.instruction];
  if constexpr (kSpace == ptx::Space::shared) {
    for (int lane = 0; lane < kLanes && !beyond_block; ++lane) places.at[lane] = block.shared.data() + addresses[lane];
    if (block.is_counted) {
      const Wavefronts wavefronts = count_wavefronts(addresses, access.span, places.mask, bytes, kind);
      counters.wavefronts += wavefronts.needed;
      counters.ideal_wavefronts += wavefronts.ideal;
    }
  } else if constexpr (kSpace == ptx::Space::local) {
    const std::uint64_t size = block.program->local_bytes;
    std::byte* const of_warp = block.local.data() + static_cast<std::uint64_t>(warp.index) * kLanes * size;
    for (int lane = 0; lane < kLanes; ++lane) {
      places.at[lane] = of_warp + static_cast<std::uint64_t>(lane) * size + addresses[lane];
    }
  } else if constexpr (kSpace == ptx::Space::param) {
    auto* const parameters = const_cast<std::byte*>(block.parameters);  // only loads come here
    for (int lane = 0; lane < kLanes; ++lane) places.at[lane] = parameters + addresses[lane];
    if (reached < bytes) leave_at(places, reached);
    return places;
  } else if constexpr (kSpace == ptx::Space::constant) {
    for (int lane = 0; lane < kLanes; ++lane) places.at[lane] = block.memory->host(addresses[lane]);
    if (block.is_counted) counters.wavefronts += different_addresses(addresses);
  } else {
    for (int lane = 0; lane < kLanes; ++lane) places.at[lane] = block.memory->host(addresses[lane]);
    if (block.is_counted) {
      const SectorSet sectors = sectors_of(addresses, access.span);
      counters.sectors += static_cast<std::uint64_t>(sectors.count());
      if (block.l1 != nullptr) block.l1->access(sectors, kind);
    }
  }
  ++counters.requests;
  counters.bytes += static_cast<std::uint64_t>(bytes) * static_cast<std::uint64_t>(std::popcount(places.mask));
  if (beyond_block) return places;  // observers have been told
  if (reached < bytes) leave_at(places, reached);
  if (block.observers.empty()) return places;
  if (used != 0) {
    tell_of_used_bytes({&operation, &warp, kSpace, &addresses, places.mask, bytes, kind}, used);
    return places;
  }
  for (AccessObserver* const observer : block.observers) {
    observer->access({&operation, &warp, kSpace, &addresses, places.mask, bytes, kind, nullptr, data});
  }
  return places;
}

std::byte* find_region(const WarpState& warp, const Operation& operation, int lane, const Region& region,
                       AccessKind kind) {
  BlockContext& block = *warp.block;
  Addresses addresses;
  addresses.fill(region.address);
  Checked access{addresses, LaneMask{1} << lane, address_span(addresses)};
  const auto bytes = static_cast<int>(region.bytes);
  const char* const space = name_of(region.space);
  if (!check_alignment(warp, operation, access, static_cast<int>(region.unit), kind, space)) return nullptr;
  if (region.space == ptx::Space::shared) {
    if (block.cluster != nullptr && (block.rank != 0 || region.address >> kRankShift != 0)) {
      return reach_in_cluster(warp, operation, lane, region.address, region.bytes, kind);
    }
    const bool is_there = check_bounds(warp, operation, access, bytes, block.shared.size(), kind, space);
    return is_there ? block.shared.data() + region.address : nullptr;
  }
  if (region.space == ptx::Space::param) {
    const bool is_there = check_read_only(warp, operation, access, kind) &&
                          check_bounds(warp, operation, access, bytes, block.program->parameter_bytes, kind, space);
    return is_there ? const_cast<std::byte*>(block.parameters) + region.address : nullptr;  // loads only come here
  }
  return check_global(warp, operation, access, bytes, kind) ? block.memory->host(region.address) : nullptr;
}

std::byte* reach_region(const WarpState& warp, const Operation& operation, int lane, const Region& region,
                        AccessKind kind) {
  std::byte* const place = find_region(warp, operation, lane, region, kind);
  if (place == nullptr) return nullptr;
  BlockContext& block = *warp.block;
  InstructionCounters& counters = block.counters[operation.instruction];
  if (region.space == ptx::Space::shared) {
    counters.wavefronts += (region.bytes + 127) / 128;
    counters.ideal_wavefronts += (region.bytes + 127) / 128;
    return place;
  }
  const std::uint64_t first = region.address >> kSectorShift;
  const std::uint64_t last = (region.address + region.bytes - 1) >> kSectorShift;  // inside of an allocation: no wrap
  counters.sectors += last - first + 1;
  for (std::uint64_t sector = first; block.l1 != nullptr && sector <= last; sector += 64) {
    SectorSet sectors;
    sectors.first = sector;
    sectors.mask = last - sector >= 63 ? ~std::uint64_t{0} : (std::uint64_t{1} << (last - sector + 1)) - 1;
    kind == AccessKind::load ? block.l1->load_past(sectors) : block.l1->access(sectors, kind);
  }
  return place;
}

LanePlaces reach_texels(const WarpState& warp, const Operation& operation, Addresses addresses, LaneMask mask,
                        int bytes, AccessKind kind, TouchedSectors& sectors) {
  LanePlaces places;
  if (mask == 0) return places;
  fill_inactive(addresses, mask);
  Checked access{addresses, mask, address_span(addresses)};
  const bool any_left = check_alignment(warp, operation, access, bytes, kind, name_of(ptx::Space::global)) &&
                        check_global(warp, operation, access, bytes, kind);
  places.mask = access.mask;
  if (!any_left) return places;
  BlockContext& block = *warp.block;
  for (int lane = 0; lane < kLanes; ++lane) places.at[lane] = block.memory->host(addresses[lane]);
  for (const std::uint64_t address : addresses) sectors.push_back(address >> kSectorShift);
  block.counters[operation.instruction].bytes +=
      static_cast<std::uint64_t>(bytes) * static_cast<std::uint64_t>(std::popcount(places.mask));
  for (AccessObserver* const observer : block.observers) {
    observer->access({&operation, &warp, ptx::Space::global, &addresses, places.mask, bytes, kind});
  }
  return places;
}

void count_texels(const WarpState& warp, const Operation& operation, TouchedSectors& sectors, AccessKind kind,
                  bool is_texture) {
  BlockContext& block = *warp.block;
  std::ranges::sort(sectors);
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  InstructionCounters& counters = block.counters[operation.instruction];
  ++counters.requests;
  counters.sectors += sectors.size();
  for (std::size_t first = 0; block.l1 != nullptr && first < sectors.size(); first += kLanes) {
    SectorSet part;
    part.list_size = static_cast<int>(std::min<std::size_t>(kLanes, sectors.size() - first));
    std::copy_n(sectors.begin() + static_cast<std::ptrdiff_t>(first), part.list_size, part.list.begin());
    if (kind != AccessKind::load) {
      block.l1->access(part, kind);
    } else if (const std::uint64_t hits = block.l1->load_texels(part); is_texture) {
      block.l1->add_texture_hits(hits);
    }
  }
}

template LanePlaces reach<ptx::Space::global>(const WarpState&, const Operation&, Addresses, int, AccessKind,
                                              StoredData);
template LanePlaces reach<ptx::Space::shared>(const WarpState&, const Operation&, Addresses, int, AccessKind,
                                              StoredData);
template LanePlaces reach<ptx::Space::local>(const WarpState&, const Operation&, Addresses, int, AccessKind,
                                             StoredData);
template LanePlaces reach<ptx::Space::constant>(const WarpState&, const Operation&, Addresses, int, AccessKind,
                                                StoredData);
template LanePlaces reach<ptx::Space::param>(const WarpState&, const Operation&, Addresses, int, AccessKind,
                                             StoredData);

}  // namespace convladder::simulated
