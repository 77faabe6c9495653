// Texts from files that anybody may have written, as they can be shown in a terminal and in Markdown.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace convladder {

/// Every control character replaced by a space: those of ASCII, and U+0080 … U+009F, which terminals obey as well.
inline std::string printable(std::string_view text) {
  std::string shown(text);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto byte = static_cast<unsigned char>(shown[i]);
    const bool is_c1 = byte == 0xC2 && i + 1 < shown.size() && static_cast<unsigned char>(shown[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F || is_c1) shown[i] = ' ';
    if (is_c1) shown[++i] = ' ';
  }
  return shown;
}

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
