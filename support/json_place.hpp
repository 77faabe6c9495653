// Reading a JSON file that anybody may have written: what is wrong, and where.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "support/errors.hpp"

namespace convladder {

/// An object of a file and where it is: "run.json: cases[2]". Its functions throw UserError "PLACE: field: expected …".
class JsonPlace {
 public:
  JsonPlace(const nlohmann::ordered_json& json, std::string path) : json_(json), path_(std::move(path)) {
    if (!json_.is_object()) fail("expected an object");
  }

  [[noreturn]] void fail(const std::string& what) const { throw UserError(fmt::format("{}: {}", path_, what)); }

  bool has(const char* field) const { return json_.contains(field) && !json_.at(field).is_null(); }
  std::string text(const char* field) const {
    if (!json_.contains(field) || !json_.at(field).is_string()) fail(fmt::format("{}: expected a string", field));
    return json_.at(field).get<std::string>();
  }
  std::string text_or_empty(const char* field) const { return has(field) ? text(field) : std::string(); }
  /// 0 … 2^30.
  int whole_number(const char* field) const {
    if (!json_.contains(field) || !json_.at(field).is_number_unsigned() ||
        json_.at(field).get<std::uint64_t>() > 1U << 30U) {
      fail(fmt::format("{}: expected a whole number up to 2^30", field));
    }
    return json_.at(field).get<int>();
  }
  bool truth(const char* field) const {
    if (!json_.contains(field) || !json_.at(field).is_boolean()) fail(fmt::format("{}: expected true or false", field));
    return json_.at(field).get<bool>();
  }
  const nlohmann::ordered_json& list(const char* field) const {
    if (!json_.contains(field) || !json_.at(field).is_array()) fail(fmt::format("{}: expected a list", field));
    return json_.at(field);
  }
  JsonPlace element(const char* field, std::size_t index) const {
    return {list(field).at(index), fmt::format("{}: {}[{}]", path_, field, index)};
  }
  JsonPlace object(const char* field) const {
    if (!json_.contains(field)) fail(fmt::format("{}: expected an object", field));
    return {json_.at(field), fmt::format("{}: {}", path_, field)};
  }
  const nlohmann::ordered_json& json() const { return json_; }

 private:
  const nlohmann::ordered_json& json_;
  std::string path_;
};

/// What is there, null otherwise; `json` may hold anything.
inline nlohmann::ordered_json value_at(const nlohmann::ordered_json& json, const char* pointer) {
  const nlohmann::ordered_json::json_pointer place(pointer);
  return json.contains(place) ? json.at(place) : nlohmann::ordered_json();
}

}  // namespace convladder
