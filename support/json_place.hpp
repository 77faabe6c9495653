// Reading of JSON from any source. A value is checked where it is read, and a message names the file and the place in
// it, what was expected there, and what was found.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convladder {

/// The range of the expected numbers, and their unit.
struct NumberRange {
  double least = -std::numeric_limits<double>::max();
  double most = std::numeric_limits<double>::max();
  std::string_view unit = {};  ///< "ns"
};
inline constexpr NumberRange kNotNegative{.least = 0};
/// The smallest double above 0.
inline constexpr double kAboveZero = std::numeric_limits<double>::denorm_min();

/// A value of a file and its place: "run.json: cases[2]: time". Every function that reads throws UserError "PLACE:
/// expected …, found …". A missing field is not reported before it is read.
class JsonPlace {
 public:
  /// `json` must outlive this object; `place` is the file, or the place in it.
  JsonPlace(const nlohmann::ordered_json& json, std::string place) : json_(&json), place_(std::move(place)) {}

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void expected(std::string_view what) const;

  /// The value as an object.
  const nlohmann::ordered_json& object() const;
  /// A field of an object, which may be missing.
  JsonPlace at(std::string_view field) const;
  /// Whether the object has the field and it is not null.
  bool has(std::string_view field) const { return !at(field).is_null(); }
  /// All fields, by name.
  std::vector<std::pair<std::string, JsonPlace>> fields() const;
  /// Refuses fields that neither `at` nor `has` was asked for: otherwise a misspelt field would silently mean the
  /// default.
  void refuse_others() const;

  /// Whether the value exists, null or not.
  bool is_there() const { return json_ != nullptr; }
  /// Whether the value is null or missing.
  bool is_null() const;
  bool is_list() const;
  /// The JSON value; null if it is missing.
  const nlohmann::ordered_json& json() const;

  std::string text() const;
  /// The text; empty for null and if it is missing.
  std::string text_or_empty() const { return is_null() ? std::string() : text(); }
  /// A text that is not empty.
  std::string some_text() const;
  /// A text that becomes part of an id, and is matched and printed as it is: not empty, at most 256 bytes, and without
  /// control characters of a terminal.
  std::string name() const;
  bool truth() const;
  template <std::integral T>
  T whole(T least = std::numeric_limits<T>::min(), T most = std::numeric_limits<T>::max()) const {
    return static_cast<T>(whole_bits(std::in_range<std::int64_t>(least) ? static_cast<std::int64_t>(least) : 0,
                                     static_cast<std::uint64_t>(most)));
  }
  /// A whole number from 0 to 2^30.
  int count() const { return whole(0, 1 << 30); }
  double number(const NumberRange& range = {}) const;
  /// The number; none for null and if it is missing.
  std::optional<double> number_or_none(const NumberRange& range = {}) const;

  std::vector<JsonPlace> list() const;
  std::vector<std::string> texts() const;
  std::vector<double> numbers(const NumberRange& range = {}) const;
  /// A list of `count` whole numbers, or of any number of them if it is 0.
  template <std::integral T>
  std::vector<T> wholes(T least, T most, std::size_t count = 0) const {
    std::vector<T> values;
    for (const JsonPlace& one : list()) values.push_back(one.whole<T>(least, most));
    if (count > 0 && values.size() != count) expected_count(count);
    return values;
  }
  /// The numbers of an object, whose names may be printed as they are.
  std::vector<std::pair<std::string, double>> numbers_by_name() const;

 private:
  std::uint64_t whole_bits(std::int64_t least, std::uint64_t most) const;
  [[noreturn]] void expected_count(std::size_t count) const;

  const nlohmann::ordered_json* json_;  ///< null if it is missing
  std::string place_;
  mutable std::set<std::string, std::less<>> asked_;
};

/// The value at a JSON pointer, or null; `json` may hold anything.
const nlohmann::ordered_json& value_at(const nlohmann::ordered_json& json, const char* pointer);
/// The text at a JSON pointer without control characters; `otherwise` for anything else, and for an empty text.
std::string text_at(const nlohmann::ordered_json& json, const char* pointer, std::string_view otherwise = "");

}  // namespace convladder
