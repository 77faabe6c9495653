// Turns a warp's addresses into places in host memory: checks alignment and bounds, counts costs, tells observers.
//
// Loads and stores, atomics and asynchronous copies all reach memory through `reach`.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "simulator/memory/warp_access.hpp"
#include "simulator/state/block_context.hpp"
#include "simulator/state/operation.hpp"

namespace convladder::simulated {

/// Where an address is that a live allocation does not hold, or not with all bytes asked for: "8 bytes past the end of
/// 'in' (256 bytes)". Sets `label` to that of the allocation, if there is one near.
std::string place_in_memory(const DeviceMemory& memory, std::uint64_t address, std::string& label);

/// The places of the lanes' data. Lanes outside of `mask` have the place of one inside of it; all are valid to read.
struct LanePlaces {
  std::array<std::byte*, kLanes> at;
  LaneMask mask = 0;  ///< lanes without a fault: all of them, unless findings are collected
};

/// The addresses of an operation whose address slot is given; those of inactive lanes are set as in `fill_inactive`.
/// Sums wrap in as many bits as the address has, as on hardware: [%r1+8] is 4 where %r1 is -4.
inline Addresses lane_addresses(const WarpState& warp, const Operation& operation, Slot slot, bool is_64_bit) {
  Addresses addresses;
  const auto offset = static_cast<std::uint64_t>(operation.offset);
  if (is_64_bit) {
    const auto* base = warp.read<std::uint64_t>(slot);
    for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = base[lane] + offset;
  } else {
    const auto* base = warp.read<std::uint32_t>(slot);
    for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = base[lane] + static_cast<std::uint32_t>(offset);
  }
  fill_inactive(addresses, warp.mask);
  return addresses;
}

/// Reaches memory for one access of `bytes` per lane in a state space: shared, local, param, constant or global.
/// Addresses are offsets, except in global memory and for constants, which are in global memory here. Faulty lanes are
/// reported and removed from the result's mask, which may become empty. `data` is for observers.
template <ptx::Space kSpace>
LanePlaces reach(const WarpState& warp, const Operation& operation, Addresses addresses, int bytes, AccessKind kind,
                 StoredData data = {});

extern template LanePlaces reach<ptx::Space::global>(const WarpState&, const Operation&, Addresses, int, AccessKind,
                                                     StoredData);
extern template LanePlaces reach<ptx::Space::shared>(const WarpState&, const Operation&, Addresses, int, AccessKind,
                                                     StoredData);
extern template LanePlaces reach<ptx::Space::local>(const WarpState&, const Operation&, Addresses, int, AccessKind,
                                                    StoredData);
extern template LanePlaces reach<ptx::Space::constant>(const WarpState&, const Operation&, Addresses, int, AccessKind,
                                                       StoredData);
extern template LanePlaces reach<ptx::Space::param>(const WarpState&, const Operation&, Addresses, int, AccessKind,
                                                    StoredData);

/// Memory that a single lane reads or writes as a whole: `bytes` from `address` on in shared or global memory, both
/// multiples of `unit`.
struct Region {
  ptx::Space space = ptx::Space::global;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unit = 16;
};
/// The place of a region, which may be in the kernel's parameters; nullptr, and a fault, where it is not possible.
/// Nothing is counted, and observers are not told.
std::byte* find_region(const WarpState& warp, const Operation& operation, int lane, const Region& region,
                       AccessKind kind);
/// As `find_region`, and counts the region's sectors, past the L1, or its wavefronts.
std::byte* reach_region(const WarpState& warp, const Operation& operation, int lane, const Region& region,
                        AccessKind kind);

/// The different sectors of a request, in which a lane touches several places.
using TouchedSectors = std::vector<std::uint64_t>;

/// Reaches texels of the lanes of `mask`, `bytes` each, in global memory: checked and shown to observers as in `reach`.
/// Their sectors are added to `sectors`, for `count_texels`.
LanePlaces reach_texels(const WarpState& warp, const Operation& operation, Addresses addresses, LaneMask mask,
                        int bytes, AccessKind kind, TouchedSectors& sectors);

/// Counts one request of a texture or a surface.
void count_texels(const WarpState& warp, const Operation& operation, TouchedSectors& sectors, AccessKind kind,
                  bool is_texture);

/// Calls access.operator()<Space>(addresses) for the lanes of each state space in which the generic addresses are, with
/// `warp.mask` set to those lanes.
template <typename Access>
void for_each_space(WarpState& warp, Addresses addresses, const Access& access) {
  constexpr unsigned kWindowShift = 40;
  LaneMask shared = 0;
  LaneMask local = 0;
  LaneMask parameters = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t window = addresses[lane] >> kWindowShift << kWindowShift;
    shared |= LaneMask{window == kSharedWindow} << lane;
    local |= LaneMask{window == kLocalWindow} << lane;
    parameters |= LaneMask{window == kParameterWindow} << lane;
    if (window <= kParameterWindow) addresses[lane] -= window;
  }
  const LaneMask all = warp.mask;
  const auto select = [&](LaneMask lanes) {
    warp.mask = all & lanes;
    Addresses selected = addresses;
    if (warp.mask != 0) fill_inactive(selected, warp.mask);
    return selected;
  };
  const Addresses in_shared = select(shared);
  if (warp.mask != 0) access.template operator()<ptx::Space::shared>(in_shared);
  const Addresses in_local = select(local);
  if (warp.mask != 0) access.template operator()<ptx::Space::local>(in_local);
  const Addresses in_parameters = select(parameters);
  if (warp.mask != 0) access.template operator()<ptx::Space::param>(in_parameters);
  const Addresses in_global = select(~(shared | local | parameters));
  if (warp.mask != 0) access.template operator()<ptx::Space::global>(in_global);
  warp.mask = all;
}

}  // namespace convladder::simulated
