#include "support/element_type.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "support/errors.hpp"
#include "support/half.hpp"
#include "support/nearest_name.hpp"

namespace convladder {
namespace {

using simulated::Half;

Half half_of(double value) { return simulated::round_to<Half>(value); }

double value_of(Half half) { return simulated::to_float(half); }

/// Calls `use` with a value of the C++ type that stands for `type`.
template <typename Use>
auto with_type(ElementType type, const Use& use) {
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
    case ElementType::f32:
      return use(float{});
    case ElementType::f64:
      break;
  }
  return use(double{});
}

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

/// Throws UserError unless all of `text` is a number of the type.
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
  static const std::vector<ElementType> all = {i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64};
  return all;
}

std::string_view element_name(ElementType type) {
  static constexpr std::string_view names[] = {"i8",  "i16", "i32", "i64", "u8", "u16",
                                               "u32", "u64", "f16", "f32", "f64"};
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
  return with_type(type, [](auto value) { return sizeof value; });
}

bool is_floating(ElementType type) { return type >= ElementType::f16; }

std::vector<std::byte> parse_element(std::string_view what, ElementType type, std::string_view text) {
  return with_type(type, [&]<typename T>(T) {
    if constexpr (std::is_same_v<T, Half>) {
      const auto value = parse_number<double>(what, type, text);
      const Half half = half_of(value);
      if (std::isfinite(value) && std::isinf(value_of(half))) {
        throw UserError(fmt::format("{}: expected a number of type f16, '{}' is beyond what it holds", what, text));
      }
      return bytes_of(half);
    } else {
      return bytes_of(parse_number<T>(what, type, text));
    }
  });
}

std::vector<std::byte> element_of(ElementType type, double value) {
  return with_type(type, [&]<typename T>(T) {
    if constexpr (std::is_same_v<T, Half>) {
      return bytes_of(half_of(value));
    } else {
      return bytes_of(static_cast<T>(value));
    }
  });
}

std::string element_text(ElementType type, const std::byte* bytes) {
  return with_type(type, [&]<typename T>(T) {
    if constexpr (std::is_same_v<T, Half>) {
      return fmt::format("{:.5g}", value_of(load<Half>(bytes)));  // five digits tell all halves apart
    } else {
      return fmt::format("{}", +load<T>(bytes));
    }
  });
}

long double element_number(ElementType type, const std::byte* bytes) {
  return with_type(type, [&]<typename T>(T) -> long double {
    if constexpr (std::is_same_v<T, Half>) {
      return value_of(load<Half>(bytes));
    } else {
      return load<T>(bytes);
    }
  });
}

nlohmann::ordered_json element_json(ElementType type, const std::byte* bytes) {
  return with_type(type, [&]<typename T>(T) -> nlohmann::ordered_json {
    if constexpr (std::is_integral_v<T>) {
      return load<T>(bytes);
    } else {
      double value = 0;
      if constexpr (std::is_same_v<T, Half>) {
        value = value_of(load<Half>(bytes));
      } else {
        value = double{load<T>(bytes)};
      }
      return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
    }
  });
}

}  // namespace convladder
