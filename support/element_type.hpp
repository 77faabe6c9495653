// The element types of a kernel's arguments: names, sizes, and values from and to text.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

enum class ElementType { i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64 };

/// Every type, in the order of the enumeration.
const std::vector<ElementType>& element_types();

/// "f32" and back; none for text that is no type.
std::string_view element_name(ElementType type);
std::optional<ElementType> element_type_of(std::string_view name);
/// As element_type_of; throws UserError that starts with `what` and lists the types, nearest first.
ElementType parse_element_type(std::string_view what, std::string_view name);

std::size_t element_bytes(ElementType type);
bool is_floating(ElementType type);

/// The value written in `text` as its little-endian bytes. Strict: the whole text, within the type's range, rounded to
/// nearest even for floating types, for which "nan", "inf" and "-inf" are values too. Throws UserError that starts
/// with `what`.
std::vector<std::byte> parse_element(std::string_view what, ElementType type, std::string_view text);

/// As parse_element for a number that a program made. The caller sees to it that an integer type can hold it.
std::vector<std::byte> element_of(ElementType type, double value);

/// The value at `bytes`, in the fewest digits that bring it back.
std::string element_text(ElementType type, const std::byte* bytes);
/// The value as a number, exactly.
long double element_number(ElementType type, const std::byte* bytes);
/// The same as a JSON number; null for what is not finite.
nlohmann::ordered_json element_json(ElementType type, const std::byte* bytes);

}  // namespace convladder
