#include "support/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kDeepest = 64;  // nested lists and objects; a record has 7
constexpr std::size_t kMostKeys = 10'000;

/// Makes the document of what a parser finds, and keeps track of the place. A parser with a callback would look through
/// a list from its beginning after each element that is an object.
class Document final : public nlohmann::json_sax<ordered_json> {
 public:
  explicit Document(const std::string& file) : file_(file) {}

  ordered_json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t /*elements*/) override { return open(ordered_json::value_t::object); }
  bool start_array(std::size_t /*elements*/) override { return open(ordered_json::value_t::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& object = levels_.back();
    const bool is_new = object.keys.insert(name).second;
    object.key = std::move(name);
    if (!is_new) fail("occurs twice");
    if (object.keys.size() > kMostKeys) fail(fmt::format("more than {} keys in an object", kMostKeys));
    return true;
  }

  bool parse_error(std::size_t byte, const std::string& /*token*/, const ordered_json::exception& error) override {
    if (dynamic_cast<const ordered_json::out_of_range*>(&error) != nullptr)
      fail("a number beyond the range of a double");
    error_byte_ = byte;
    return false;
  }

  /// The byte where the text stops to be JSON.
  std::size_t error_byte() const { return error_byte_; }

 private:
  /// An open list or object.
  struct Level {
    ordered_json* value = nullptr;
    std::size_t elements = 0;
    std::set<std::string, std::less<>> keys;
    std::string key;  ///< the last key
  };

  [[noreturn]] void fail(const std::string& what) const {
    std::string place;
    for (const Level& level : levels_) {
      if (level.elements > 0 && level.keys.empty()) place += fmt::format("[{}]", level.elements - 1);
      if (!level.keys.empty()) place += fmt::format("{}{}", place.empty() ? "" : ": ", level.key);
    }
    throw UserError(fmt::format("{}: {}{}{}", file_, printable(place, kShortText), place.empty() ? "" : ": ", what));
  }

  ordered_json& place(ordered_json value) {
    if (levels_.empty()) return root_ = std::move(value);
    Level& level = levels_.back();
    ++level.elements;
    if (level.value->is_array()) return level.value->emplace_back(std::move(value));
    // At the end, since it is known to be new: a search would begin at the first key.
    auto& members = level.value->get_ref<ordered_json::object_t&>();
    static_cast<ordered_json::object_t::Container&>(members).emplace_back(level.key, std::move(value));
    return members.back().second;
  }

  bool add(ordered_json value) {
    place(std::move(value));
    return true;
  }

  bool open(ordered_json::value_t type) {
    ordered_json& value = place(ordered_json(type));
    if (levels_.size() == kDeepest) fail(fmt::format("lists and objects are nested more than {} deep", kDeepest));
    levels_.push_back({.value = &value, .elements = 0, .keys = {}, .key = {}});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  const std::string& file_;
  ordered_json root_;
  std::vector<Level> levels_;
  std::size_t error_byte_ = 0;
};

/// Where a text of several lines stops to be JSON: " in line 26, "rms": 2%". Empty for a single line, where the byte
/// says enough.
std::string line_text(std::string_view text, std::size_t byte) {
  constexpr std::size_t kShownLine = 60;
  const std::size_t at = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  if (line == 1) return {};
  const std::size_t begin = text.substr(0, at).rfind('\n') + 1;
  std::string_view shown = text.substr(begin, text.find('\n', begin) - begin);
  shown.remove_prefix(std::min(shown.find_first_not_of(" \t\r"), shown.size()));
  return fmt::format(" in line {}{}{}", line, shown.empty() ? "" : ", ", printable(shown, kShownLine));
}

}  // namespace

ordered_json parse_json(std::string_view text, const std::string& file, std::string_view expected) {
  Document document(file);
  if (ordered_json::sax_parse(text, &document)) return document.take();
  const std::size_t byte = document.error_byte();
  throw UserError(
      fmt::format("{}: byte {}: not valid JSON{}, expected {}", file, byte, line_text(text, byte), expected));
}

std::string json_text(const ordered_json& json) {
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

std::string json_line(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string short_json(const ordered_json& value) {
  return printable(value.dump(-1, ' ', true, ordered_json::error_handler_t::replace), kShortText);
}

std::string in_quotes(std::string_view text) { return short_json(text); }

nlohmann::ordered_json text_or_null(std::string_view text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace convladder
