// Writes missing values as null in a record.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace convladder {

template <typename T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// An empty text means a missing one.
inline nlohmann::ordered_json text_or_null(std::string_view text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace convladder
