// A warp's access to memory and its cost: 32-byte sectors of global memory, passes over the banks of shared memory,
// different addresses of constants.
//
// Lanes that take no part carry the address of one that does (`fill_inactive`), so that masks need not be examined
// everywhere.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace convladder::simulated {

inline constexpr int kLanes = 32;
using LaneMask = std::uint32_t;
inline constexpr LaneMask kAllLanes = 0xffffffffU;

/// The kinds of access of a warp.
enum class AccessKind : std::uint8_t { load, store, atomic };

using Addresses = std::array<std::uint64_t, kLanes>;

inline constexpr unsigned kSectorShift = 5;  // 32-byte sectors
inline constexpr unsigned kBanks = 32;       // banks of shared memory, 4 bytes wide each

/// Calls `function(lane)` for each lane of the mask, in order.
template <typename Function>
void for_each_lane(LaneMask mask, const Function& function) {
  for (LaneMask left = mask; left != 0; left &= left - 1) function(std::countr_zero(left));
}

/// Gives lanes outside of the mask the address of the first lane in the mask, which is not empty.
inline void fill_inactive(Addresses& addresses, LaneMask mask) {
  if (mask == kAllLanes) return;
  const std::uint64_t first = addresses[static_cast<std::size_t>(std::countr_zero(mask))];
  for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = ((mask >> lane) & 1U) != 0 ? addresses[lane] : first;
}

/// Bounds and bits of the addresses of a request, found in one pass over them.
struct AddressSpan {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t bits = 0;  ///< bits set in any address
};
inline AddressSpan address_span(const Addresses& addresses) {
  AddressSpan span{addresses[0], addresses[0], addresses[0]};
  for (int lane = 1; lane < kLanes; ++lane) {
    span.low = std::min(span.low, addresses[lane]);
    span.high = std::max(span.high, addresses[lane]);
    span.bits |= addresses[lane];
  }
  return span;
}

/// The different sectors that the lanes of a request touch. An access is aligned to its size, at most 16 bytes, so that
/// of each lane is in one sector.
struct SectorSet {
  std::uint64_t first = 0;                 ///< sector number: address / 32
  std::uint64_t mask = 0;                  ///< bit i: sector first + i; not used if sectors are further apart than 64
  std::array<std::uint64_t, kLanes> list;  ///< used instead then, ascending
  int list_size = 0;

  int count() const { return list_size > 0 ? list_size : std::popcount(mask); }
};
SectorSet sectors_of(const Addresses& addresses, const AddressSpan& span);

/// The number of different addresses of a request. The constant cache serves one of them at a time, to all lanes with
/// it.
std::uint64_t different_addresses(Addresses addresses);

/// The passes that a shared memory access of `bytes` per lane needs: the most different words that one bank is asked
/// for; lanes that ask for the same word share it. A warp's access of 8 bytes per lane is served in two halves, one of
/// 16 bytes in four quarters, each as an access of 32 words. Parts without an active lane cost nothing.
///
/// A load of 8 or 16 bytes takes two parts at a time where lanes share addresses in pairs: where each active lane n has
/// the address of lane n ^ 1, or each that of lane n ^ 2, unless that lane takes no part. So a word that all lanes want
/// costs a load of 16 bytes two passes, not four. Data returns to the registers at 128 bytes a cycle, and only pairs
/// are packed, which is why stores gain nothing. This is from an NVIDIA engineer, about compute capability 7.0 to 7.5
/// (forums.developer.nvidia.com/t/77228). Others saw with Nsight Compute that halves of 8 bytes merge alike, and
/// quarters of 16 bytes only within a half (github.com/Kangkang-wky/CUDA_Micro_benchmark, bank_conflict_benchmark).
/// Unproven for compute capability 9.0 until Nsight Compute has shown it there.
struct Wavefronts {
  std::uint64_t needed = 0;
  std::uint64_t ideal = 0;  ///< without conflicts: one for each part, or for two parts that are taken together
};
Wavefronts count_wavefronts(const Addresses& addresses, const AddressSpan& span, LaneMask mask, int bytes,
                            AccessKind kind);

}  // namespace convladder::simulated
