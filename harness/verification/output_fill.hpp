// What an output holds before a call: numbers like any others, drawn anew each time, that can be told from results.
#pragma once

#include <bit>
#include <cstdint>

namespace convladder {

/// How much of an output a fill writes. Of a large one `pieces` are a quarter, drawn by the seed: the others keep what
/// another call left. `nothing`: all of it does.
enum class FillPart { all, pieces, nothing };

/// Element `i` of a fill is a number, not 0, in -scale..scale that follows from the seed and i. A kernel cannot tell it
/// from a result. A right result may happen to be those very bits, once in some ten million elements: only what is
/// wrong was never written.
struct OutputFill {
  std::uint32_t seed = 0;
  float scale = 1;
  FillPart part = FillPart::all;

  static constexpr std::int64_t kPiece = 1 << 14;              ///< elements
  static constexpr std::int64_t kFewestOfLarge = 16 * kPiece;  ///< an output that is not large has no pieces

  float at(std::int64_t i) const {
    return static_cast<float>(static_cast<std::int32_t>(bits(i) | 1U)) * (0x1p-31F * scale);
  }
  bool writes_piece(std::int64_t piece, std::int64_t elements) const {
    if (part == FillPart::nothing) return false;
    return part == FillPart::all || elements < kFewestOfLarge || bits(~piece) % 4 == 0;
  }
  bool left_at(std::int64_t i, float found) const {
    return std::bit_cast<std::uint32_t>(at(i)) == std::bit_cast<std::uint32_t>(found);
  }

 private:
  std::uint32_t bits(std::int64_t i) const {  // the finalizer of MurmurHash3
    auto bits = static_cast<std::uint32_t>(i) * 0x9e3779b1U ^ seed;
    bits = (bits ^ (bits >> 16)) * 0x85ebca6bU;
    bits = (bits ^ (bits >> 13)) * 0xc2b2ae35U;
    return bits ^ (bits >> 16);
  }
};

/// Writes elements `first` to before `first + count` of the fill.
void write_fill(float* to, const OutputFill& fill, std::int64_t first, std::int64_t count);

}  // namespace convladder
