// What an output holds before a call: numbers like any others, drawn anew each time, that can be told from results.
#pragma once

#include <bit>
#include <cstdint>

namespace convladder {

/// Element `i` of a fill is a number, not 0, in -scale..scale that follows from the seed and i. A kernel cannot tell it
/// from a result. A right result may happen to be those very bits, once in some ten million elements: only what is
/// wrong was never written.
struct OutputFill {
  std::uint32_t seed = 0;
  float scale = 1;
  /// Of a large output only some pieces are written, a quarter of them, drawn by the seed. The others keep what another
  /// call left.
  bool sparse = false;

  static constexpr std::int64_t kPiece = 1 << 14;             ///< elements
  static constexpr std::int64_t kFewestSparse = 16 * kPiece;  ///< an output that is not large is written whole

  float at(std::int64_t i) const {
    return static_cast<float>(static_cast<std::int32_t>(bits(i) | 1U)) * (0x1p-31F * scale);
  }
  bool writes_piece(std::int64_t piece, std::int64_t elements) const {
    return !sparse || elements < kFewestSparse || bits(~piece) % 4 == 0;
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
