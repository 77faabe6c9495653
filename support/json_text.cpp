#include "support/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "support/errors.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kDeepest = 64;  // nested lists and objects; a record has 7
constexpr std::size_t kMostKeys = 10'000;

/// Follows the parser and keeps track of the place.
class Structure {
 public:
  explicit Structure(const std::string& file) : file_(file) {}

  void see(ordered_json::parse_event_t event, const ordered_json& parsed) {
    switch (event) {
      case ordered_json::parse_event_t::key:
        see_key(parsed.get_ref<const std::string&>());
        break;
      case ordered_json::parse_event_t::value:
        count_element();
        break;
      case ordered_json::parse_event_t::object_start:
      case ordered_json::parse_event_t::array_start:
        count_element();
        if (levels_.size() == kDeepest) fail(fmt::format("lists and objects are nested more than {} deep", kDeepest));
        levels_.emplace_back();
        break;
      case ordered_json::parse_event_t::object_end:
      case ordered_json::parse_event_t::array_end:
        levels_.pop_back();
        break;
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    std::string place;
    for (const Level& level : levels_) {
      if (level.elements > 0 && level.keys.empty()) place += fmt::format("[{}]", level.elements - 1);
      if (!level.keys.empty()) place += fmt::format("{}{}", place.empty() ? "" : ": ", level.key);
    }
    throw UserError(fmt::format("{}: {}{}{}", file_, printable(place, kShortText), place.empty() ? "" : ": ", what));
  }

 private:
  /// An open list or object.
  struct Level {
    std::size_t elements = 0;
    std::set<std::string> keys;
    std::string key;  ///< the last key
  };

  void count_element() {
    if (!levels_.empty()) ++levels_.back().elements;
  }

  void see_key(const std::string& key) {
    Level& object = levels_.back();
    const bool is_new = object.keys.insert(key).second;
    object.key = key;
    if (!is_new) fail("occurs twice");
    if (object.keys.size() > kMostKeys) fail(fmt::format("more than {} keys in an object", kMostKeys));
  }

  const std::string& file_;
  std::vector<Level> levels_;
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
  Structure structure(file);
  try {
    return ordered_json::parse(text, [&](int /*depth*/, ordered_json::parse_event_t event, ordered_json& parsed) {
      structure.see(event, parsed);
      return true;
    });
  } catch (const ordered_json::parse_error& error) {
    throw UserError(fmt::format("{}: byte {}: not valid JSON{}, expected {}", file, error.byte,
                                line_text(text, error.byte), expected));
  } catch (const ordered_json::out_of_range&) {
    structure.fail("a number beyond the range of a double");
  }
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
