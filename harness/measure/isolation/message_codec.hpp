// How messages are written as JSON and read back: only for the files that instantiate MessageTexts for their kinds. For
// a field that is neither of a type that nlohmann's library knows nor has fields itself, such a file has to_json and
// from_json.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "harness/measure/isolation/client.hpp"
#include "harness/measure/isolation/message_text.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {

/// Adds the fields that a type names (client.hpp) to an object.
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
    object_[name] = value;
  }
  template <typename T>
  void write(const char* name, const std::optional<T>& value) const {
    if (value) write(name, *value);
  }

  nlohmann::ordered_json& object_;
};

/// Reads the fields that a type names. Throws InvalidMessage, or exceptions of nlohmann's library.
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
      throw InvalidMessage(fmt::format("{}: {} is no number that can be there", name, short_json(field)));
    }
    field.get_to(value);
  }
  template <typename T>
  void read(const char* name, std::optional<T>& value) const {
    if (object_.contains(name)) read(name, value.emplace());
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

/// A message without fields, or one that names them.
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

namespace convladder {

/// Reads a text with `read`. Throws InvalidMessage.
template <typename Read>
auto read_message(const std::string& text, const Read& read) {
  try {
    return read(parse_json(text, "socket", "a message"));
  } catch (const nlohmann::ordered_json::exception& error) {
    throw InvalidMessage(error.what());
  } catch (const UserError& error) {
    throw InvalidMessage(error.what());
  }
}

/// The request of one of these types that has the name.
template <typename... Requests>
std::variant<Requests...> request_from_json(const nlohmann::ordered_json& json,
                                            const std::variant<Requests...>* /*all*/) {
  const auto name = json.at("do").get<std::string>();
  std::optional<std::variant<Requests...>> found;
  const auto try_one = [&]<typename Request>(const Request* /*one*/) {
    if (Request::kName == name) read_fields(json, found.emplace().template emplace<Request>());
  };
  (try_one(static_cast<const Requests*>(nullptr)), ...);
  if (!found) throw InvalidMessage(fmt::format("unknown request '{}'", name));
  return *std::move(found);
}

template <typename Kind>
std::string MessageTexts<Kind>::of_hello(const typename Kind::Hello& hello) {
  return json_line(nlohmann::ordered_json(hello));
}

template <typename Kind>
std::string MessageTexts<Kind>::of_request(const typename Kind::Request& request) {
  return std::visit(
      [](const auto& one) {
        nlohmann::ordered_json json{{"do", one.kName}};
        add_fields(json, one);
        return json_line(json);
      },
      request);
}

template <typename Kind>
std::string MessageTexts<Kind>::of_answer(const typename Kind::Answer& answer) {
  if (const Ending* const ending = std::get_if<Ending>(&answer)) return ending_text(*ending);
  return std::visit(
      []<typename Reply>(const Reply& one) {
        nlohmann::ordered_json json = nlohmann::ordered_json::object();
        if constexpr (!std::same_as<Reply, Ending>) add_fields(json, one);
        return json_line(json);
      },
      answer);
}

template <typename Kind>
typename Kind::Hello MessageTexts<Kind>::read_hello(const std::string& text) {
  return read_message(text, [](const auto& json) { return json.template get<typename Kind::Hello>(); });
}

template <typename Kind>
typename Kind::Request MessageTexts<Kind>::read_request(const std::string& text) {
  return read_message(text, [](const auto& json) {
    return request_from_json(json, static_cast<const typename Kind::Request*>(nullptr));
  });
}

template <typename Kind>
typename Kind::Answer MessageTexts<Kind>::read_answer(const typename Kind::Request& request, const std::string& text) {
  return read_message(text, [&](const auto& json) {
    return std::visit(
        [&]<typename Request>(const Request& /*one*/) -> typename Kind::Answer {
          typename Request::Reply reply;
          read_fields(json, reply);
          return reply;
        },
        request);
  });
}

}  // namespace convladder
