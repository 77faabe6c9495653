#include "harness/plan/setting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/errors.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

Setting::Setting(const ordered_json& options, const char* name) : name_(name) {
  if (!options.is_object() || !options.contains(name)) fail("is missing");
  json_ = &options.at(name);
}

std::string Setting::text() const {
  if (!json_->is_string()) wrong("a string");
  return json_->get<std::string>();
}

bool Setting::truth() const {
  if (!json_->is_boolean()) wrong("true or false");
  return json_->get<bool>();
}

std::uint64_t Setting::seed() const {
  if (!json_->is_number_unsigned()) wrong("a whole number, 0 or above");
  return json_->get<std::uint64_t>();
}

int Setting::whole(int smallest, int largest) const { return whole(*json_, smallest, largest); }

double Setting::number(double smallest, double largest) const {
  if (!json_->is_number() || !(json_->get<double>() >= smallest) || !(json_->get<double>() <= largest)) {
    wrong(fmt::format("a number from {} to {}", smallest, largest));
  }
  return json_->get<double>();
}

std::vector<std::string> Setting::texts() const {
  if (!json_->is_array() || !std::ranges::all_of(*json_, &ordered_json::is_string)) wrong("a list of strings");
  return json_->get<std::vector<std::string>>();
}

std::vector<int> Setting::wholes(int smallest, int largest) const {
  if (!json_->is_array()) wrong("a list of whole numbers");
  std::vector<int> numbers;
  for (const ordered_json& element : *json_) numbers.push_back(whole(element, smallest, largest));
  return numbers;
}

const ordered_json& Setting::list() const {
  if (!json_->is_array()) wrong("a list");
  return *json_;
}

void Setting::fail(const std::string& what) const {
  throw UserError(fmt::format("context.options.{}: {}", name_, what));
}

void Setting::wrong(const std::string& expected) const {
  fail(fmt::format("expected {}, got {}", expected, short_json(*json_)));
}

int Setting::whole(const ordered_json& value, int smallest, int largest) const {
  // As 64 bits: what is larger is no number_integer of JSON's.
  if (!value.is_number_integer() || value.get<std::int64_t>() < smallest || value.get<std::int64_t>() > largest ||
      (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(largest))) {
    wrong(fmt::format("whole numbers from {} to {}", smallest, largest));
  }
  return value.get<int>();
}

bool Settings::has(const char* name) const {
  return options_.is_object() && options_.contains(name) && !options_.at(name).is_null();
}

std::optional<int> Settings::whole_if_any(const char* name, int smallest, int largest) const {
  return has(name) ? std::optional((*this)(name).whole(smallest, largest)) : std::nullopt;
}

std::optional<double> Settings::number_if_any(const char* name, double smallest, double largest) const {
  return has(name) ? std::optional((*this)(name).number(smallest, largest)) : std::nullopt;
}

}  // namespace convladder
