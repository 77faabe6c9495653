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

  float at(std::int64_t i) const {
    auto bits = static_cast<std::uint32_t>(i) * 0x9e3779b1U ^ seed;  // the finalizer of MurmurHash3
    bits = (bits ^ (bits >> 16)) * 0x85ebca6bU;
    bits = (bits ^ (bits >> 13)) * 0xc2b2ae35U;
    return static_cast<float>(static_cast<std::int32_t>((bits ^ (bits >> 16)) | 1U)) * (0x1p-31F * scale);
  }
  bool left_at(std::int64_t i, float found) const {
    return std::bit_cast<std::uint32_t>(at(i)) == std::bit_cast<std::uint32_t>(found);
  }
};

/// Writes elements `first` to before `first + count` of the fill.
void write_fill(float* to, const OutputFill& fill, std::int64_t first, std::int64_t count);

}  // namespace convladder
