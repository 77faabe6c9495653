// Operations of a device with memory of its own for the harness, so that no part of a tensor has to come from the host:
// filling outputs, changing inputs, copying elements out. The formulas are here, so that the host's loops and a
// device's kernels produce the same bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "support/random_bits.hpp"

namespace convladder {

enum class ElementType;

/// Ordinary-looking numbers that follow from a seed and an element's place (OutputFill says what for).
struct FillFormula {
  std::uint32_t seed = 0;
  float scale = 1;
  bool opposite = false;     ///< every element differs from its value without `opposite`
  bool some_pieces = false;  ///< a quarter of the pieces, drawn by the seed; the others stay as they are

  static constexpr std::int64_t kPiece = 1 << 14;  ///< elements

  CONVLADDER_HOST_DEVICE std::uint32_t bits(std::int64_t i) const {  // the finalizer of MurmurHash3
    std::uint32_t bits = static_cast<std::uint32_t>(i) * 0x9e3779b1U ^ seed;
    bits = (bits ^ (bits >> 16)) * 0x85ebca6bU;
    bits = (bits ^ (bits >> 13)) * 0xc2b2ae35U;
    return bits ^ (bits >> 16);
  }
  CONVLADDER_HOST_DEVICE bool writes_piece(std::int64_t piece) const { return !some_pieces || bits(~piece) % 4 == 0; }
  CONVLADDER_HOST_DEVICE float at(std::int64_t i) const {
    const float number = static_cast<float>(static_cast<std::int32_t>(bits(i) | 1U)) * (0x1p-31F * scale);
    return opposite ? -number : number;
  }
  /// Element i of a tensor of type `T`. `Numbers` has `from<T>(double)` and `to(T)`, which round as from_double does.
  template <typename T, typename Numbers>
  CONVLADDER_HOST_DEVICE T element(std::int64_t i, const Numbers& numbers) const {
    if constexpr (std::is_same_v<T, float>) {
      return at(i);
    } else if constexpr (std::is_integral_v<T>) {
      constexpr auto largest = static_cast<double>(std::numeric_limits<T>::max());
      const double wanted = scale < 127 ? 127 : double{scale};
      const double most = sizeof(T) == 1 || wanted > largest ? largest : wanted;
      const auto sizes = static_cast<std::uint32_t>(most < 0x1p31 ? most : 0x1p31);
      const std::uint32_t number = bits(i) % sizes;
      if constexpr (std::is_unsigned_v<T>) {
        const std::uint32_t other = (number + (opposite ? 1U : 0U)) % sizes + 1;
        return static_cast<T>(other);
      } else {
        const std::uint32_t one_to_sizes = number + 1;
        const auto size = static_cast<T>(one_to_sizes);
        return static_cast<T>(((bits(i) >> 31U) != 0) != opposite ? -size : size);
      }
    } else {
      const T element = numbers.template from<T>(at(i));
      return numbers.to(element) == 0 ? numbers.template from<T>(opposite ? -1 : 1)
                                      : element;  // the size is too small for the type
    }
  }
};

/// A number in low..high from random bits.
CONVLADDER_HOST_DEVICE inline double value_in_range(std::uint64_t bits, double low, double high) {
  const double part = bits_between(bits, 0, (1U << 23U) + 1) * 0x1p-23;
#if defined(__CUDA_ARCH__)
  return fma(high - low, part, low);
#else
  return std::fma(high - low, part, low);  // one rounding on every machine
#endif
}

/// The value that replaces elements of an item: of a magnitude from half of `size` to `size`, of either sign, different
/// for each item.
struct ReplacingValue {
  std::uint64_t seed = 0;
  double size = 1;
  bool is_whole = false;
  bool has_range = false;  ///< then its sign is one that occurs in low..high, the tensor's own range
  double low = 0;
  double high = 0;

  CONVLADDER_HOST_DEVICE double of(std::int64_t item) const {
    const std::uint64_t bits = random_bits(random_state(seed, static_cast<std::uint64_t>(item) + 1), 0);
    // Exact except for the product.
    const double part = 0.5 + static_cast<double>(bits >> 42U) * 0x1p-23;
    double value = has_range ? size * part : double{static_cast<float>(size) * static_cast<float>(part)};
    if (is_whole && value < 0x1p52) {  // rounded away from 0; larger values are whole
      const auto below = static_cast<double>(static_cast<std::int64_t>(value));
      if (below != value) value = below + 1;
    }
    if ((bits & 1U) == 0) value = -value;
    return has_range && (value < low || value > high) ? -value : value;
  }
  /// The value to put where `unchanged` stands: differs from it if the tensor's range allows two values.
  CONVLADDER_HOST_DEVICE double instead_of(double unchanged, double value) const {
    if (!has_range || value != unchanged) return value;
    return value == low ? high : low;
  }
};

/// The elements of every item of a tensor that are replaced: a grid of them.
struct ReplacedElements {
  std::int64_t first = 0;
  std::int64_t row_step = 1;  ///< elements from one row to the next: more than (columns - 1) * column_step
  std::int64_t column_step = 1;
  std::int32_t rows = 0;  ///< 0: nothing is replaced
  std::int32_t columns = 0;
  ReplacingValue by;

  CONVLADDER_HOST_DEVICE std::int64_t count() const { return std::int64_t{rows} * columns; }
  CONVLADDER_HOST_DEVICE std::int64_t element(std::int64_t number) const {
    return first + number / columns * row_step + number % columns * column_step;
  }
  CONVLADDER_HOST_DEVICE bool contains(std::int64_t element) const {
    const std::int64_t behind = element - first;
    if (rows == 0 || behind < 0 || behind / row_step >= rows) return false;
    const std::int64_t column = behind % row_step;
    return column % column_step == 0 && column / column_step < columns;
  }
};

/// A tensor of items that is derived from another one: item b is item (b + rotation) % items of `from`, its elements
/// begin at number `first` there, in a circle, and are multiplied by `factor` where they are float32.
struct ChangedTensor {
  void* to = nullptr;
  const void* from = nullptr;  ///< readable by the device
  ElementType type{};
  std::int64_t items = 0;
  std::int64_t elements = 0;  ///< elements of an item
  std::int64_t rotation = 0;
  std::int64_t first = 0;
  float factor = 1;

  CONVLADDER_HOST_DEVICE std::int64_t source(std::int64_t item, std::int64_t element) const {
    const std::int64_t at = element + first;
    return (item + rotation) % items * elements + (at < elements ? at : at - elements);
  }
};

/// The change that a tensor holds at present, kept on the device.
struct StandingChange {
  ReplacedElements replaced;
  std::uint32_t blocks_done = 0;  ///< blocks of the current launch that are done
};

/// Chosen elements of a tensor: `count` of them, drawn by a seed among `span` elements from `first` on.
struct ChosenElements {
  std::uint64_t seed = 0;
  std::int64_t first = 0;
  std::int64_t span = 1;
  std::int32_t count = 0;

  CONVLADDER_HOST_DEVICE std::int64_t element(std::int32_t number) const {
    const std::uint64_t bits = random_bits(random_state(seed, 0), static_cast<std::uint64_t>(number)) >> 32U;
    // `span` may be more than 2^32: then the product is taken of its parts.
    const auto range = static_cast<std::uint64_t>(span);
    const std::uint64_t high = (range >> 32U) * bits;
    return first + static_cast<std::int64_t>(high + (((range & 0xffffffffU) * bits) >> 32U));
  }
};

/// Every operation is a kernel enqueued in the device's current stream: nothing waits, allocates or copies from the
/// host, so that it can be captured into a graph. Throws DeviceError.
class DeviceFilling {
 public:
  DeviceFilling() = default;
  DeviceFilling(const DeviceFilling&) = delete;
  DeviceFilling& operator=(const DeviceFilling&) = delete;
  virtual ~DeviceFilling() = default;

  virtual void fill(void* to, ElementType type, std::int64_t elements, const FillFormula& fill) = 0;
  /// Writes numbers in low..high: those of SeededRandom(seed, item).between(0, 2^23) in order, scaled; whole where
  /// `type` is.
  virtual void fill_in_range(const ChangedTensor& tensor, std::uint64_t seed, double low, double high) = 0;
  /// Writes the whole tensor, without replaced elements, and forgets what stood there.
  virtual void write_changed(const ChangedTensor& tensor, StandingChange* standing) = 0;
  /// Restores the elements replaced before and replaces these instead. The earlier change is read on the device, so
  /// that a graph of several replacements can be launched again and again.
  virtual void replace(const ChangedTensor& tensor, StandingChange* standing, const ReplacedElements& now) = 0;
  /// Writes the fill into chosen elements.
  virtual void fill_chosen(void* to, ElementType type, const ChosenElements& chosen, const FillFormula& fill) = 0;
  /// Copies chosen elements, one behind the other.
  virtual void copy_chosen(void* to, const void* from, ElementType type, const ChosenElements& chosen) = 0;
};

}  // namespace convladder
