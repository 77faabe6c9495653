#include "support/json_place.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t kLongestName = 256;

const ordered_json& nothing() {
  static const ordered_json null;
  return null;
}

bool is_in(const ordered_json& value, const NumberRange& range) {
  return value.is_number() && value.get<double>() >= range.least && value.get<double>() <= range.most;
}

/// The range in words: "a number above 0 and up to 1e+18 ns".
std::string range_text(const NumberRange& range) {
  const NumberRange any;
  std::string text = "a number";
  if (range.least == kAboveZero) {
    text += " above 0";
  } else if (range.least > any.least) {
    text += fmt::format(" from {:g}", range.least);
  }
  if (range.most < any.most)
    text += fmt::format("{} {:g}", range.least == kAboveZero ? " and up to" : " to", range.most);
  return range.unit.empty() ? text : fmt::format("{} {}", text, range.unit);
}

}  // namespace

void JsonPlace::fail(const std::string& what) const { throw UserError(fmt::format("{}: {}", place_, what)); }

void JsonPlace::expected(std::string_view what) const {
  fail(fmt::format("expected {}, found {}", what, json_ == nullptr ? "nothing" : short_json(*json_)));
}

const ordered_json& JsonPlace::object() const {
  if (!json().is_object()) expected("an object");
  return *json_;
}

JsonPlace JsonPlace::at(std::string_view field) const {
  const auto member = object().find(field);
  asked_.emplace(field);
  JsonPlace found(nothing(), fmt::format("{}: {}", place_, printable(field, kShortText)));
  found.json_ = member == json_->end() ? nullptr : &*member;
  return found;
}

std::vector<std::pair<std::string, JsonPlace>> JsonPlace::fields() const {
  std::vector<std::pair<std::string, JsonPlace>> all;
  for (const auto& [name, value] : object().items()) all.emplace_back(name, at(name));
  return all;
}

void JsonPlace::refuse_others() const {
  for (const auto& [name, value] : json().items()) {
    if (!asked_.contains(name)) fail(fmt::format("unknown field {}", in_quotes(name)));
  }
}

bool JsonPlace::is_null() const { return json().is_null(); }

bool JsonPlace::is_list() const { return json().is_array(); }

const ordered_json& JsonPlace::json() const { return json_ == nullptr ? nothing() : *json_; }

std::string JsonPlace::text() const {
  if (!json().is_string()) expected("a string");
  return json().get<std::string>();
}

std::string JsonPlace::some_text() const {
  std::string found = text();
  if (found.empty()) expected("a text");
  return found;
}

std::string JsonPlace::name() const {
  const std::string* const name = json().get_ptr<const std::string*>();
  if (name == nullptr || name->empty() || name->size() > kLongestName || printable(*name) != *name) {
    expected(fmt::format("a name of at most {} bytes without control characters", kLongestName));
  }
  return *name;
}

bool JsonPlace::truth() const {
  if (!json().is_boolean()) expected("true or false");
  return json().get<bool>();
}

std::uint64_t JsonPlace::whole_bits(std::int64_t least, std::uint64_t most) const {
  const ordered_json& value = json();
  // A parser makes numbers without a sign unsigned, but a program may not.
  const bool is_positive = value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  const bool is_within =
      is_positive ? std::cmp_greater_equal(value.get<std::uint64_t>(), least) && value.get<std::uint64_t>() <= most
                  : value.is_number_integer() && value.get<std::int64_t>() >= least;
  if (!is_within) expected(fmt::format("a whole number from {} to {}", least, most));
  return value.get<std::uint64_t>();
}

double JsonPlace::number(const NumberRange& range) const {
  if (!is_in(json(), range)) expected(range_text(range));
  return json().get<double>();
}

std::optional<double> JsonPlace::number_or_none(const NumberRange& range) const {
  return is_null() ? std::nullopt : std::optional(number(range));
}

std::vector<JsonPlace> JsonPlace::list() const {
  if (!json().is_array()) expected("a list");
  std::vector<JsonPlace> elements;
  elements.reserve(json().size());
  for (const ordered_json& one : json()) elements.emplace_back(one, fmt::format("{}[{}]", place_, elements.size()));
  return elements;
}

std::vector<std::string> JsonPlace::texts() const {
  std::vector<std::string> values;
  for (const JsonPlace& one : list()) values.push_back(one.text());
  return values;
}

std::vector<double> JsonPlace::numbers(const NumberRange& range) const {
  if (!json().is_array()) expected("a list");
  std::vector<double> values;
  values.reserve(json().size());
  for (const ordered_json& one : json()) {
    if (!is_in(one, range)) static_cast<void>(list().at(values.size()).number(range));  // throws with the place
    values.push_back(one.get<double>());
  }
  return values;
}

std::vector<std::pair<std::string, double>> JsonPlace::numbers_by_name() const {
  std::vector<std::pair<std::string, double>> numbers;
  for (const auto& [name, value] : fields()) {
    if (printable(name) != name) value.fail("expected a name without control characters");
    numbers.emplace_back(name, value.number());
  }
  return numbers;
}

void JsonPlace::expected_count(std::size_t count) const { expected(fmt::format("a list of {}", count)); }

const ordered_json& value_at(const ordered_json& json, const char* pointer) {
  const ordered_json::json_pointer place(pointer);
  return json.contains(place) ? json.at(place) : nothing();
}

std::string text_at(const ordered_json& json, const char* pointer, std::string_view otherwise) {
  const std::string* const text = value_at(json, pointer).get_ptr<const std::string*>();
  return text == nullptr || text->empty() ? std::string(otherwise) : printable(*text);
}

}  // namespace convladder
