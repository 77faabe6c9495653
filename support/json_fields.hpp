// Types that name their fields, as JSON objects: written from one list and read by it. Only for the files that hold a
// codec. A type names them by
//   static void each_field(auto&& field, auto& its) { field("calls", its.calls); }
// with field(name, value, …) for fields that are always there, except for a std::optional; field.lately(…) for those
// that another build may leave out: then they keep their defaults; field.by_name for a list of pairs that is an object;
// field.beside(first, part) for an optional part whose fields, beginning with `first`, lie beside the others. An
// enumeration with `record_word` is a word. For a
// field that is neither of a type that nlohmann's library knows nor has fields or words itself, the codec has to_json
// and from_json.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/json_text.hpp"

namespace convladder {

/// An enumeration that records have by its words: `record_word(value)` is a value's, and null behind the last.
template <typename T>
concept HasWords = std::is_enum_v<T> && requires(T value) {
  { record_word(value) } -> std::convertible_to<const char*>;
};

/// Adds the fields that a type names to an object.
class FieldWriter {
 public:
  explicit FieldWriter(nlohmann::ordered_json& object) : object_(object) {}

  template <typename T, typename... Rest>
  void operator()(const char* name, const T& value, const Rest&... rest) const {
    write(name, value);
    if constexpr (sizeof...(rest) > 0) (*this)(rest...);
  }
  void lately(const auto&... fields) const { (*this)(fields...); }
  template <typename T>
  void by_name(const char* name, const std::vector<std::pair<std::string, T>>& values) const {
    for (const auto& [key, value] : values) object_[name][key] = value;
  }
  template <typename T>
  void beside(const char* /*first*/, const std::optional<T>& part) const {
    if (part) T::each_field(*this, *part);
  }

 private:
  template <typename T>
  void write(const char* name, const T& value) const {
    if constexpr (HasWords<T>) {
      object_[name] = record_word(value);
    } else {
      object_[name] = value;
    }
  }
  template <typename T>
  void write(const char* name, const std::optional<T>& value) const {
    if (value) write(name, *value);
  }

  nlohmann::ordered_json& object_;
};

/// Reads the fields that a type names. Throws UserError, or exceptions of nlohmann's library.
class FieldReader {
 public:
  explicit FieldReader(const nlohmann::ordered_json& object) : object_(object) {}

  template <typename T, typename... Rest>
  void operator()(const char* name, T& value, Rest&&... rest) const {
    read(name, value);
    if constexpr (sizeof...(rest) > 0) (*this)(rest...);
  }
  template <typename T, typename... Rest>
  void lately(const char* name, T& value, Rest&&... rest) const {
    if (object_.contains(name)) read(name, value);
    if constexpr (sizeof...(rest) > 0) lately(rest...);
  }
  template <typename T>
  void by_name(const char* name, std::vector<std::pair<std::string, T>>& values) const {
    if (!object_.contains(name)) return;
    const FieldReader of_object(object_.at(name));
    for (const auto& [key, value] : object_.at(name).get_ref<const nlohmann::ordered_json::object_t&>()) {
      of_object.read(key.c_str(), values.emplace_back(key, T()).second);
    }
  }
  template <typename T>
  void beside(const char* first, std::optional<T>& part) const {
    if (object_.contains(first)) T::each_field(*this, part.emplace());
  }

 private:
  template <typename T>
  void read(const char* name, T& value) const {
    const nlohmann::ordered_json& field = object_.at(name);
    if (!can_be<T>(field)) {
      throw UserError(fmt::format("{}: {} is no number that can be there", name, short_json(field)));
    }
    if constexpr (HasWords<T>) {
      value = read_word<T>(name, field);
    } else {
      field.get_to(value);
    }
  }
  template <typename T>
  void read(const char* name, std::optional<T>& value) const {
    if (object_.contains(name)) read(name, value.emplace());
  }

  template <HasWords T>
  static T read_word(const char* name, const nlohmann::ordered_json& field) {
    for (std::underlying_type_t<T> i = 0; record_word(static_cast<T>(i)) != nullptr; ++i) {
      if (field == record_word(static_cast<T>(i))) return static_cast<T>(i);
    }
    throw UserError(fmt::format("{}: {} is no word that can be there", name, short_json(field)));
  }

  /// False for a number, or a truth value, of which the library would make another number.
  template <typename T>
  static bool can_be(const nlohmann::ordered_json& field) {
    if constexpr (!std::is_arithmetic_v<T> || std::same_as<T, bool>) return true;
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      if (field.is_number_unsigned()) return std::in_range<T>(field.get<std::uint64_t>());
      if (field.is_number_integer()) return std::in_range<T>(field.get<std::int64_t>());
      if (field.is_number()) return false;
    }
    return !field.is_boolean();
  }

  const nlohmann::ordered_json& object_;
};

/// A type without fields, or one that names them.
template <typename T>
concept HasFields = std::is_empty_v<T> ||
    requires(const FieldWriter& write, const FieldReader& read, const T& written, T& value) {
  T::each_field(write, written);
  T::each_field(read, value);
};

template <HasFields T>
void add_fields(nlohmann::ordered_json& object, const T& value) {
  if constexpr (!std::is_empty_v<T>) T::each_field(FieldWriter(object), value);
}

template <HasFields T>
void read_fields(const nlohmann::ordered_json& object, T& value) {
  static_cast<void>(object.get_ref<const nlohmann::ordered_json::object_t&>());  // or it is none
  if constexpr (!std::is_empty_v<T>) T::each_field(FieldReader(object), value);
}

}  // namespace convladder

template <convladder::HasFields T>
struct nlohmann::adl_serializer<T, void> {
  static void to_json(nlohmann::ordered_json& json, const T& value) {
    json = nlohmann::ordered_json::object();
    convladder::add_fields(json, value);
  }
  static void from_json(const nlohmann::ordered_json& json, T& value) { convladder::read_fields(json, value); }
};
