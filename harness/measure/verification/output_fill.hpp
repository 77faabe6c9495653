// The contents of an output before a call: numbers like any others, drawn anew each time, that can be told from
// results.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "devices/device_filling.hpp"
#include "support/element_type.hpp"

namespace convladder {

/// The numbers from which FillFormula makes elements on the host.
struct HostNumbers {
  template <typename T>
  static T from(double value) {
    return from_double<T>(value);
  }
  template <typename T>
  static double to(T element) {
    return to_double(element);
  }
};

/// How much of an output a fill writes. `pieces` of a large one are a quarter, drawn by the seed: the others keep what
/// another call left. `nothing`: all of it keeps that.
enum class FillPart { all, pieces, nothing };

/// Element `i` of a fill is a number, not 0, in -scale..scale that follows from the seed and i. A kernel cannot tell it
/// from a result. A right result may happen to be exactly those bits, in float32 once in some ten million elements:
/// only wrong elements count as never written. Where that is likelier (`happens`), a second call finds the opposite
/// fill.
struct OutputFill {
  std::uint32_t seed = 0;
  float scale = 1;
  FillPart part = FillPart::all;
  bool opposite = false;  ///< every element differs from that of the fill without it

  static constexpr std::int64_t kPiece = FillFormula::kPiece;
  static constexpr std::int64_t kFewestOfLarge = 16 * kPiece;  ///< elements of a large output; a smaller one has no
                                                               ///< pieces

  /// The formula for a tensor of so many elements. Not for a fill that writes nothing.
  FillFormula formula(std::int64_t elements) const {
    return {.seed = seed,
            .scale = scale,
            .opposite = opposite,
            .some_pieces = part != FillPart::all && elements >= kFewestOfLarge};
  }
  float at(std::int64_t i) const { return formula(0).at(i); }
  /// Element `i` for a tensor of that type: integers of 8 bits take all values but 0, others are as large as results or
  /// up to 127.
  template <typename T>
  T element(std::int64_t i) const {
    return formula(0).element<T>(i, HostNumbers{});
  }
  /// Whether right elements of a type now and then have exactly the fill's bits.
  static bool happens(ElementType type) { return type != ElementType::f32 && type != ElementType::f64; }
  /// Whether so many of `of` elements that are not compared cannot be right ones that happen to have the fill's bits.
  static bool is_too_many(ElementType type, std::int64_t left, double of) {
    return static_cast<double>(left) > (happens(type) ? 3 + 0.03 * of : 1 + 1e-6 * of);
  }
  bool writes_piece(std::int64_t piece, std::int64_t elements) const {
    return part != FillPart::nothing && formula(elements).writes_piece(piece);
  }
  template <typename T>
  bool left_at(std::int64_t i, T found) const {
    return std::bit_cast<Bits<T>>(element<T>(i)) == std::bit_cast<Bits<T>>(found);
  }
  /// The fill of the result at this place among a problem's.
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
};

/// Writes elements `first` to before `first + count` of the fill.
void write_fill(void* to, ElementType type, const OutputFill& fill, std::int64_t first, std::int64_t count);

}  // namespace convladder
