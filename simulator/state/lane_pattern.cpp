#include "simulator/state/lane_pattern.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "simulator/state/block_context.hpp"

namespace convladder::simulated {
namespace {

constexpr std::size_t kMostPatterns = 512;  // of a host thread: 448 bytes each
constexpr int kMostFruitless = 32;          // after this many, an instruction is assumed to reach memory anywhere
constexpr std::uint64_t kFarthest = std::uint64_t{1} << 30;
constexpr std::uint64_t kFarthestGlobal = 62 << kSectorShift;  // sectors that are a mask, wherever they begin

/// The key of a request's pattern; none if lanes are too far apart.
std::optional<PatternKey> key_of(ptx::Space space, const Addresses& addresses, LaneMask mask, int bytes,
                                 AccessKind kind) {
  PatternKey key;
  key.mask = mask;
  key.bytes = bytes;
  key.space = space;
  if (space == ptx::Space::shared) key.kind = kind;
  const std::uint64_t first = addresses[static_cast<std::size_t>(key.first_lane())];
  key.low_bits = low_bits_of(first, bytes);
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t apart = ((mask >> lane) & 1U) != 0 ? addresses[lane] - first : 0;
    key.apart[lane] = static_cast<std::int32_t>(apart);
  }
  if ((lanes_elsewhere(addresses.data(), first, key.apart) & mask) != 0) return std::nullopt;
  return key;
}

std::uint32_t hash_of(const PatternKey& key) {
  std::uint32_t hash = key.mask * 0x85ebca6bU + static_cast<std::uint32_t>(key.bytes);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    hash += static_cast<std::uint32_t>(key.apart[lane]) * (0x9e3779b1U * (2 * lane + 1));
  }
  return hash;
}

bool is_same(const PatternKey& left, const PatternKey& right) {
  return left.mask == right.mask && left.bytes == right.bytes && left.space == right.space && left.kind == right.kind &&
         left.low_bits == right.low_bits && left.apart == right.apart;
}

void find_shape(LanePattern& pattern) {
  const auto all_apart = [&pattern](std::int32_t step) {
    for (int lane = 0; lane < kLanes; ++lane) {
      if (pattern.apart[lane] != lane * step) return false;
    }
    return pattern.mask == kAllLanes;
  };
  if (all_apart(0)) {
    pattern.shape = LanePattern::Shape::same;
    return;
  }
  if (all_apart(pattern.bytes)) {
    pattern.shape = LanePattern::Shape::row;
    return;
  }
  std::size_t count = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (((pattern.mask >> lane) & 1U) == 0) continue;
    const std::int32_t begin = pattern.apart[lane] - lane * pattern.bytes;
    if (count == 0 || pattern.pieces[count - 1].begin != begin) {
      if (count == pattern.pieces.size()) return;  // scattered
      pattern.pieces[count++].begin = begin;
    }
    pattern.pieces[count - 1].lanes |= LaneMask{1} << lane;
  }
  pattern.shape = LanePattern::Shape::pieces;
}

void find_cost(LanePattern& pattern, const Addresses& addresses) {
  if (pattern.space == ptx::Space::shared) {
    pattern.wavefronts =
        count_wavefronts(addresses, address_span(addresses), pattern.mask, pattern.bytes, pattern.kind);
  } else if (pattern.space == ptx::Space::constant) {
    pattern.wavefronts.needed = different_addresses(addresses);
  }
}

}  // namespace

void find_sectors(LanePattern& pattern, std::uint64_t first) {
  Addresses addresses;
  for (int lane = 0; lane < kLanes; ++lane) {
    addresses[lane] = first + static_cast<std::uint64_t>(std::int64_t{pattern.apart[lane]});
  }
  const SectorSet set = sectors_of(addresses, address_span(addresses));
  pattern.sectors[(first >> 2) % pattern.sectors.size()] = {
      static_cast<std::int64_t>(set.first - (first >> kSectorShift)), set.mask};
}

void add_uses(const KnownPattern& known, InstructionCounters& counters) {
  const LanePattern& pattern = *known.pattern;
  counters.wavefronts += known.uses * pattern.wavefronts.needed;
  counters.ideal_wavefronts += known.uses * pattern.wavefronts.ideal;
  counters.bytes += known.uses * static_cast<std::uint64_t>(pattern.bytes * std::popcount(pattern.mask));
}

LanePattern* LanePatterns::find(const PatternKey& wanted, std::uint32_t hash) {
  const auto [begin, end] = patterns_.equal_range(hash);
  const auto found = std::find_if(begin, end, [&wanted](const auto& one) { return is_same(one.second, wanted); });
  return found == end ? nullptr : &found->second;
}

bool LanePatterns::recall(KnownPattern& known, InstructionCounters& counters, ptx::Space space,
                          const Addresses& addresses, LaneMask mask, int bytes, AccessKind kind) {
  if (known.fruitless >= kMostFruitless || patterns_.empty()) return false;
  add_uses(known, counters);
  if (known.uses > 1) known.fruitless = 0;
  known.uses = 0;
  known.pattern = &none_;
  const std::optional<PatternKey> key = key_of(space, addresses, mask, bytes, kind);
  if (!key) return false;
  LanePattern* const there = find(*key, hash_of(*key));
  if (there == nullptr) return false;
  known.pattern = there;
  return true;
}

void LanePatterns::learn(KnownPattern& known, ptx::Space space, const Addresses& addresses, LaneMask mask, int bytes,
                         AccessKind kind) {
  if (known.fruitless >= kMostFruitless) return;
  const AddressSpan span = address_span(addresses);
  const bool is_far = span.high - span.low > (space == ptx::Space::global ? kFarthestGlobal : kFarthest);
  const bool is_full = patterns_.size() == kMostPatterns;
  const std::optional<PatternKey> key = is_far || is_full ? std::nullopt : key_of(space, addresses, mask, bytes, kind);
  if (!key) {
    ++known.fruitless;
    return;
  }
  const std::uint32_t hash = hash_of(*key);
  if (LanePattern* const there = find(*key, hash)) {  // it was recalled for another allocation
    known.pattern = there;
    return;
  }
  if (++known.fruitless == kMostFruitless) return;
  LanePattern& added = patterns_.emplace(hash, LanePattern{*key})->second;
  added.below = addresses[static_cast<std::size_t>(key->first_lane())] - span.low;
  added.above = span.high - span.low - added.below;
  find_shape(added);
  find_cost(added, addresses);
  known.pattern = &added;
}

}  // namespace convladder::simulated
