// Converts between JSON and texts, which may come from any source.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace convladder {

/// `file` is its name in messages, `expected` what the text should be: "a record of convladder". Throws UserError
/// "FILE: PLACE: what is wrong", one line, for text that is not JSON (with the byte), a key that an object holds twice,
/// of which a parser would silently take the last, a number beyond a double, lists and objects nested more than 64
/// deep, which could exhaust the stack, and an object of more than 10000 keys, which are searched one by one.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& file, std::string_view expected);

/// The JSON on several lines, indented by a space for each level, with a final line end. Bytes that are no UTF-8, which
/// the name of a file may contain, are replaced.
std::string json_text(const nlohmann::ordered_json& json);
/// The JSON on one line, without a line end.
std::string json_line(const nlohmann::ordered_json& json);

/// A value of a file as JSON in ASCII, at most kShortText characters of it, for messages.
std::string short_json(const nlohmann::ordered_json& value);
/// As `short_json`, for a text: in quotes.
std::string in_quotes(std::string_view text);
/// A value that may be missing, then null. Whoever calls it includes the JSON library.
template <typename T, typename Json = nlohmann::ordered_json>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
/// The text, or null for an empty one, which means a missing one.
nlohmann::ordered_json text_or_null(std::string_view text);

}  // namespace convladder
