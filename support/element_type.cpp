#include "support/element_type.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace convladder {
namespace {

template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <typename T>
T load(const std::byte* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// Parses a number of the type. Throws UserError unless all of `text` is one.
template <typename T>
T parse_number(std::string_view what, ElementType type, std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return value;
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    throw UserError(fmt::format("{}: expected a whole number from {} to {} ({}), got '{}'", what, +Limits::min(),
                                +Limits::max(), element_name(type), text));
  } else {
    const char* const problem = error == std::errc::result_out_of_range ? "is beyond what it holds" : "is none";
    throw UserError(fmt::format("{}: expected a number of type {}, '{}' {}", what, element_name(type), text, problem));
  }
}

}  // namespace

const std::vector<ElementType>& element_types() {
  using enum ElementType;
  static const std::vector<ElementType> all = {i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64};
  return all;
}

std::string_view element_name(ElementType type) {
  static constexpr std::string_view names[] = {"i8",  "i16", "i32", "i64",  "u8",  "u16",
                                               "u32", "u64", "f16", "bf16", "f32", "f64"};
  return names[static_cast<std::size_t>(type)];
}

std::optional<ElementType> element_type_of(std::string_view name) {
  for (const ElementType type : element_types()) {
    if (element_name(type) == name) return type;
  }
  return std::nullopt;
}

ElementType parse_element_type(std::string_view what, std::string_view name) {
  return find_known("type", name, element_types(), element_name, fmt::format("{}: ", what));
}

std::size_t element_bytes(ElementType type) {
  return with_element_type(type, [](auto value) { return sizeof value; });
}

bool is_floating(ElementType type) { return type >= ElementType::f16; }

std::vector<std::byte> parse_element(std::string_view what, ElementType type, std::string_view text) {
  return with_element_type(type, [&]<typename T>(T) {
    if constexpr (kIsSmallFloat<T>) {
      const auto value = parse_number<double>(what, type, text);
      const T half = from_double<T>(value);
      if (std::isfinite(value) && std::isinf(to_double(half))) {
        throw UserError(fmt::format("{}: expected a number of type {}, '{}' is beyond what it holds", what,
                                    element_name(type), text));
      }
      return bytes_of(half);
    } else {
      return bytes_of(parse_number<T>(what, type, text));
    }
  });
}

std::vector<std::byte> element_of(ElementType type, double value) {
  return with_element_type(type, [&]<typename T>(T) { return bytes_of(from_double<T>(value)); });
}

std::string element_text(ElementType type, const std::byte* bytes) {
  return with_element_type(type, [&]<typename T>(T) {
    if constexpr (kIsSmallFloat<T>) {
      return fmt::format("{:.5g}", to_double(load<T>(bytes)));  // five digits distinguish all values
    } else {
      return fmt::format("{}", +load<T>(bytes));
    }
  });
}

long double element_number(ElementType type, const std::byte* bytes) {
  return with_element_type(type, [&]<typename T>(T) -> long double {
    if constexpr (kIsSmallFloat<T>) {
      return to_double(load<T>(bytes));
    } else {
      return load<T>(bytes);
    }
  });
}

}  // namespace convladder
