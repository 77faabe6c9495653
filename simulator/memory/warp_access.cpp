#include "simulator/memory/warp_access.hpp"

#include <bit>
#include <functional>
#include <utility>

namespace convladder::simulated {
namespace {

/// The most words that are asked of any bank, if all words are in kRows rows of banks from the first on: a bit map of
/// the words, whose rows are then added up bit by bit.
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

/// The rounds that serve all words, wherever they are: in each, every bank serves one of its words to all that ask for
/// it.
template <int kCount, int kUnits>
std::uint64_t count_rounds(std::array<std::uint32_t, kCount> words) {
  std::uint64_t rounds = 0;
  for (int left = kCount; left > 0; ++rounds) {
    std::array<std::uint32_t, kUnits> served;
    for (int i = 0; i < left; ++i) served[words[i] % kUnits] = words[i];
    int still_left = 0;
    for (int i = 0; i < left; ++i) {
      const std::uint32_t word = words[i];
      words[still_left] = word;
      still_left += served[word % kUnits] != word ? 1 : 0;
    }
    left = still_left;
  }
  return rounds;
}

/// The passes that an access of one word per lane needs.
std::uint64_t count_word_passes(const Addresses& addresses, std::uint64_t low, std::uint64_t high) {
  const std::uint64_t span = (high >> 2) - (low >> 2);
  if (span < kBanks) return 1;  // one row of banks, wherever it begins
  std::array<std::uint32_t, kLanes> word;
  for (int lane = 0; lane < kLanes; ++lane) {
    word[lane] = static_cast<std::uint32_t>((addresses[lane] >> 2) - (low >> 2));
  }
  if (span < 2 * kBanks) return most_words_of_a_bank<2>(word);
  if (span < 8 * kBanks) return most_words_of_a_bank<8>(word);
  return count_rounds<kLanes, kBanks>(word);
}

/// Whether each active lane has the address of the lane whose number differs in `bit`, unless that one takes no part.
bool are_pairs(const Addresses& addresses, LaneMask mask, int bit) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const LaneMask both = (LaneMask{1} << lane) | (LaneMask{1} << (lane ^ bit));
    if ((mask & both) == both && addresses[lane] != addresses[lane ^ bit]) return false;
  }
  return true;
}

/// The passes that an access of kWords words per lane needs, in parts of kPart lanes: for a part, kWords banks act as
/// one.
template <int kWords, int kPart = kLanes / kWords>
Wavefronts count_wide_passes(const Addresses& addresses, const AddressSpan& span, LaneMask mask) {
  constexpr int kUnits = static_cast<int>(kBanks) / kWords;
  constexpr unsigned kShift = std::countr_zero(4U * kWords);
  Wavefronts passes;
  for (int first = 0; first < kLanes; first += kPart) {
    const LaneMask active = mask & (kAllLanes >> (kLanes - kPart) << first);
    if (active == 0) continue;
    ++passes.ideal;
    std::array<std::uint32_t, kPart> pieces;
    std::uint32_t last = 0;
    for (int i = 0; i < kPart; ++i) {
      // A lane that takes no part may carry the address of a lane of another part.
      const int lane = ((active >> (first + i)) & 1U) != 0 ? first + i : std::countr_zero(active);
      pieces[i] = static_cast<std::uint32_t>((addresses[lane] >> kShift) - (span.low >> kShift));
      last = std::max(last, pieces[i] - pieces[0]);  // large if a piece is before the first
    }
    passes.needed += last < kUnits ? 1 : count_rounds<kPart, kUnits>(pieces);
  }
  return passes;
}

/// The passes of a load, which takes two parts at a time where lanes are pairs.
template <int kWords>
Wavefronts count_wide_load(const Addresses& addresses, const AddressSpan& span, LaneMask mask) {
  const bool are_merged = are_pairs(addresses, mask, 1) || are_pairs(addresses, mask, 2);
  return are_merged ? count_wide_passes<kWords, 2 * kLanes / kWords>(addresses, span, mask)
                    : count_wide_passes<kWords>(addresses, span, mask);
}

/// Puts the different sectors of a request into its list, ascending, where they are less than 2^32 apart. Each is put
/// where the number of smaller ones says, equal ones in one place: no step depends on a comparison's outcome.
void list_near_sectors(const Addresses& addresses, SectorSet& sectors) {
  std::array<std::uint32_t, kLanes> from_first;
  std::array<std::uint32_t, kLanes> smaller{};
  for (int lane = 0; lane < kLanes; ++lane) {
    from_first[lane] = static_cast<std::uint32_t>((addresses[lane] >> kSectorShift) - sectors.first);
  }
  bool are_ascending = true;
  for (int lane = 1; lane < kLanes; ++lane) are_ascending &= from_first[lane - 1] < from_first[lane];
  if (are_ascending) {  // as with a stride
    for (int lane = 0; lane < kLanes; ++lane) sectors.list[lane] = sectors.first + from_first[lane];
    sectors.list_size = kLanes;
    return;
  }
  for (const std::uint32_t other : from_first) {
    for (int lane = 0; lane < kLanes; ++lane) smaller[lane] += other < from_first[lane] ? 1 : 0;
  }
  LaneMask taken = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    sectors.list[smaller[lane]] = sectors.first + from_first[lane];
    taken |= LaneMask{1} << smaller[lane];
  }
  for (; taken != 0; taken &= taken - 1) sectors.list[sectors.list_size++] = sectors.list[std::countr_zero(taken)];
}

}  // namespace

SectorSet sectors_of(const Addresses& addresses, const AddressSpan& span) {
  SectorSet sectors;
  sectors.first = span.low >> kSectorShift;
  const std::uint64_t apart = (span.high >> kSectorShift) - sectors.first;
  if (apart < 64) {
    std::uint64_t mask = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      mask |= std::uint64_t{1} << ((addresses[lane] >> kSectorShift) - sectors.first);
    }
    sectors.mask = mask;
    return sectors;
  }
  if (apart >> 32 == 0) {
    list_near_sectors(addresses, sectors);
    return sectors;
  }
  sectors.list = addresses;
  for (std::uint64_t& sector : sectors.list) sector >>= kSectorShift;
  std::ranges::sort(sectors.list);
  const auto end = std::unique(sectors.list.begin(), sectors.list.end());
  sectors.list_size = static_cast<int>(end - sectors.list.begin());
  return sectors;
}

std::uint64_t different_addresses(Addresses addresses) {
  if (std::ranges::adjacent_find(addresses, std::not_equal_to<>()) == addresses.end()) return 1;
  std::ranges::sort(addresses);
  return static_cast<std::uint64_t>(std::unique(addresses.begin(), addresses.end()) - addresses.begin());
}

Wavefronts count_wavefronts(const Addresses& addresses, const AddressSpan& span, LaneMask mask, int bytes,
                            AccessKind kind) {
  if (bytes <= 4) return {count_word_passes(addresses, span.low, span.high), 1};
  const bool is_load = kind == AccessKind::load;
  if (bytes == 8) return (is_load ? count_wide_load<2> : count_wide_passes<2>)(addresses, span, mask);
  if (bytes == 16) return (is_load ? count_wide_load<4> : count_wide_passes<4>)(addresses, span, mask);
  return count_wide_passes<8>(addresses, span, mask);
}

}  // namespace convladder::simulated
