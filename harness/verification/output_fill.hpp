// What an output holds before a call: numbers like any others, drawn anew each time, that can be told from results.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "support/element_type.hpp"

namespace convladder {

/// How much of an output a fill writes. Of a large one `pieces` are a quarter, drawn by the seed: the others keep what
/// another call left. `nothing`: all of it does.
enum class FillPart { all, pieces, nothing };

/// Element `i` of a fill is a number, not 0, in -scale..scale that follows from the seed and i. A kernel cannot tell it
/// from a result. A right result may happen to be those very bits, of float32 once in some ten million elements: only
/// what is wrong was never written. Where that is likelier (`happens`), a second call finds the opposite fill.
struct OutputFill {
  std::uint32_t seed = 0;
  float scale = 1;
  FillPart part = FillPart::all;
  bool opposite = false;  ///< every element is another one than otherwise

  static constexpr std::int64_t kPiece = 1 << 14;              ///< elements
  static constexpr std::int64_t kFewestOfLarge = 16 * kPiece;  ///< an output that is not large has no pieces

  float at(std::int64_t i) const {
    const float number = static_cast<float>(static_cast<std::int32_t>(bits(i) | 1U)) * (0x1p-31F * scale);
    return opposite ? -number : number;
  }
  /// Of a tensor of that type: integers of 8 bits take all values but 0, others are as large as results or up to 127.
  template <typename T>
  T element(std::int64_t i) const {
    if constexpr (std::is_same_v<T, float>) return at(i);
    if constexpr (std::is_integral_v<T>) {
      constexpr auto largest = static_cast<double>(std::numeric_limits<T>::max());
      const double most = sizeof(T) == 1 ? largest : std::min(std::max(double{scale}, 127.0), largest);
      const auto sizes = static_cast<std::uint32_t>(std::min(most, 0x1p31));
      const std::uint32_t number = bits(i) % sizes;
      if constexpr (std::is_unsigned_v<T>) return static_cast<T>((number + (opposite ? 1 : 0)) % sizes + 1);
      const auto size = static_cast<T>(number + 1);
      return static_cast<T>(((bits(i) >> 31U) != 0) != opposite ? -size : size);
    } else {
      const T element = from_double<T>(at(i));
      return to_double(element) == 0 ? from_double<T>(opposite ? -1 : 1) : element;  // too small for the type
    }
  }
  /// Whether right elements of a type are the fill's very bits now and then.
  static bool happens(ElementType type) { return type != ElementType::f32 && type != ElementType::f64; }
  /// Whether so many of `of` elements that nobody compares cannot be right ones that happen to be the fill's bits.
  static bool is_too_many(ElementType type, std::int64_t left, double of) {
    return static_cast<double>(left) > (happens(type) ? 3 + 0.03 * of : 1 + 1e-6 * of);
  }
  bool writes_piece(std::int64_t piece, std::int64_t elements) const {
    if (part == FillPart::nothing) return false;
    return part == FillPart::all || elements < kFewestOfLarge || bits(~piece) % 4 == 0;
  }
  template <typename T>
  bool left_at(std::int64_t i, T found) const {
    return std::bit_cast<Bits<T>>(element<T>(i)) == std::bit_cast<Bits<T>>(found);
  }
  /// Of the result that has this place among a problem's.
  OutputFill of_tensor(std::size_t place, float its_scale) const {
    OutputFill own = *this;
    own.seed += static_cast<std::uint32_t>(place) * 0x9e3779b9U;
    own.scale = its_scale;
    return own;
  }

 private:
  template <typename T>
  using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

  std::uint32_t bits(std::int64_t i) const {  // the finalizer of MurmurHash3
    auto bits = static_cast<std::uint32_t>(i) * 0x9e3779b1U ^ seed;
    bits = (bits ^ (bits >> 16)) * 0x85ebca6bU;
    bits = (bits ^ (bits >> 13)) * 0xc2b2ae35U;
    return bits ^ (bits >> 16);
  }
};

/// Writes elements `first` to before `first + count` of the fill.
void write_fill(void* to, ElementType type, const OutputFill& fill, std::int64_t first, std::int64_t count);

}  // namespace convladder
