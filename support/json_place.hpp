// Reading JSON that anybody may have written. A value is checked where it is read, and a message says in which file and
// where in it, what was expected there, and what was found.
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

/// Which numbers are expected, and of what.
struct NumberRange {
  double least = -std::numeric_limits<double>::max();
  double most = std::numeric_limits<double>::max();
  std::string_view unit = {};  ///< "ns"
};
inline constexpr NumberRange kNotNegative{.least = 0};
/// The least double above 0.
inline constexpr double kAboveZero = std::numeric_limits<double>::denorm_min();

/// A value of a file and where it is: "run.json: cases[2]: time". Every function that reads throws UserError
/// "PLACE: expected …, found …". Of a field that is missing nothing is said before it is read.
class JsonPlace {
 public:
  /// `json` must outlive it; `place` is the file, or where in it.
  JsonPlace(const nlohmann::ordered_json& json, std::string place) : json_(&json), place_(std::move(place)) {}

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void expected(std::string_view what) const;

  /// An object as it is.
  const nlohmann::ordered_json& object() const;
  /// A field of an object.
  JsonPlace at(std::string_view field) const;
  /// Whether it is there and not null.
  bool has(std::string_view field) const { return !at(field).is_null(); }
  /// All of them, by name.
  std::vector<std::pair<std::string, JsonPlace>> fields() const;
  /// Otherwise a misspelt field would silently mean the default: refuses those that neither `at` nor `has` was asked
  /// for.
  void refuse_others() const;

  /// Whether it is there, null or not.
  bool is_there() const { return json_ != nullptr; }
  /// Null, or missing.
  bool is_null() const;
  /// The value as it is; null where it is missing.
  const nlohmann::ordered_json& json() const;

  std::string text() const;
  /// Empty for null and where it is missing, too.
  std::string text_or_empty() const { return is_null() ? std::string() : text(); }
  /// A text with something in it.
  std::string some_text() const;
  /// A text that becomes part of an id, and is matched and printed as it is: not empty, at most 256 bytes, and nothing
  /// in it that a terminal obeys.
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
  /// None for null, and where it is missing.
  std::optional<double> number_or_none(const NumberRange& range = {}) const;

  std::vector<JsonPlace> list() const;
  std::vector<std::string> texts() const;
  std::vector<double> numbers(const NumberRange& range = {}) const;
  /// `count` of them; any number if it is 0.
  template <std::integral T>
  std::vector<T> wholes(T least, T most, std::size_t count = 0) const {
    std::vector<T> values;
    for (const JsonPlace& one : list()) values.push_back(one.whole<T>(least, most));
    if (count > 0 && values.size() != count) expected_count(count);
    return values;
  }
  /// Of an object of numbers, whose names may be printed as they are.
  std::vector<std::pair<std::string, double>> numbers_by_name() const;

 private:
  std::uint64_t whole_bits(std::int64_t least, std::uint64_t most) const;
  [[noreturn]] void expected_count(std::size_t count) const;

  const nlohmann::ordered_json* json_;  ///< null where it is missing
  std::string place_;
  mutable std::set<std::string, std::less<>> asked_;
};

/// What is there, null otherwise; `json` may hold anything.
const nlohmann::ordered_json& value_at(const nlohmann::ordered_json& json, const char* pointer);
/// The text there without control characters; `otherwise` for anything else, and for an empty text.
std::string text_at(const nlohmann::ordered_json& json, const char* pointer, std::string_view otherwise = "");

}  // namespace convladder
