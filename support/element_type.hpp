// The element types of tensors and of a kernel's arguments: names, sizes, and values from and to text and double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "support/half.hpp"

namespace convladder {

using simulated::Bfloat16;
using simulated::Half;

enum class ElementType { i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 };

/// Whether a C++ type is one of the 16-bit floats, which have no arithmetic of their own.
template <typename T>
inline constexpr bool kIsSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;

/// Calls `use` with a value of the C++ type that stands for `type`.
template <typename Use>
auto with_element_type(ElementType type, const Use& use) {
  switch (type) {
    case ElementType::i8:
      return use(std::int8_t{});
    case ElementType::i16:
      return use(std::int16_t{});
    case ElementType::i32:
      return use(std::int32_t{});
    case ElementType::i64:
      return use(std::int64_t{});
    case ElementType::u8:
      return use(std::uint8_t{});
    case ElementType::u16:
      return use(std::uint16_t{});
    case ElementType::u32:
      return use(std::uint32_t{});
    case ElementType::u64:
      return use(std::uint64_t{});
    case ElementType::f16:
      return use(Half{});
    case ElementType::bf16:
      return use(Bfloat16{});
    case ElementType::f32:
      return use(float{});
    case ElementType::f64:
      break;
  }
  return use(double{});
}

/// The element type that a C++ type stands for; none for other types.
template <typename T>
constexpr std::optional<ElementType> element_type_for() {
  using enum ElementType;
  if constexpr (std::is_same_v<T, Half>) return f16;
  if constexpr (std::is_same_v<T, Bfloat16>) return bf16;
  if constexpr (std::is_same_v<T, float>) return f32;
  if constexpr (std::is_same_v<T, double>) return f64;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr ElementType signed_types[] = {i8, i16, i32, i64};
    constexpr ElementType unsigned_types[] = {u8, u16, u32, u64};
    constexpr int place = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? signed_types[place] : unsigned_types[place];
  }
  return std::nullopt;
}

/// An element's value: exact for all but 64-bit integers beyond 2^53.
template <typename T>
double to_double(T element) {
  if constexpr (kIsSmallFloat<T>) {
    return simulated::to_float(element);
  } else {
    return static_cast<double>(element);
  }
}

/// The element nearest to a value, ties to even. The caller ensures that an integer type can hold it.
template <typename T>
T from_double(double value) {
  if constexpr (kIsSmallFloat<T>) {
    return simulated::round_to<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

/// Every type, in the order of the enumeration.
const std::vector<ElementType>& element_types();

/// The name of a type, "f32"; and the type of a name, none for other text.
std::string_view element_name(ElementType type);
std::optional<ElementType> element_type_of(std::string_view name);
/// As `element_type_of`; throws UserError that starts with `what` and lists the types, nearest first.
ElementType parse_element_type(std::string_view what, std::string_view name);

std::size_t element_bytes(ElementType type);
bool is_floating(ElementType type);

/// The value written in `text` as its little-endian bytes. Strict: the whole text, within the type's range, rounded to
/// nearest even for floating types, for which "nan", "inf" and "-inf" are values too. Throws UserError that starts
/// with `what`.
std::vector<std::byte> parse_element(std::string_view what, ElementType type, std::string_view text);

/// As `parse_element`, for a number from the program. The caller ensures that an integer type can hold it.
std::vector<std::byte> element_of(ElementType type, double value);

/// The value at `bytes`, in the fewest digits that reproduce it.
std::string element_text(ElementType type, const std::byte* bytes);
/// The value at `bytes` as a number, exactly.
long double element_number(ElementType type, const std::byte* bytes);

}  // namespace convladder
