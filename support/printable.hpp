// Texts from files that anybody may have written, as they can be shown in a terminal and in Markdown.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace convladder {

/// Every control character replaced by a space: those of ASCII, U+0080 … U+009F, which terminals obey as well, and the
/// marks that turn the direction of what follows. Bytes that are no UTF-8 become '?'.
std::string printable(std::string_view text);

/// The same for a text of several lines: line ends and tabs stay. All that is printed goes through it, a piece at a
/// time: the beginning of a character at the end of `text` is left in `rest`, which the next piece continues.
std::string printable_lines(std::string_view text, std::string& rest);

/// A value of a file as JSON in ASCII, at most about 60 characters of it.
inline std::string short_json(const nlohmann::ordered_json& value) {
  const std::string text = value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  constexpr std::size_t most = 60;
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

/// Markdown shows the result as this text, whatever is in it: HTML and marks are escaped.
inline std::string markdown_text(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|>#~").find(c) != std::string_view::npos) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace convladder
