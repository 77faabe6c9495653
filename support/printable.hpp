// Texts from files that anybody may have written, as they can be shown in a terminal and in Markdown.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convladder {

/// Every control character replaced by a space: those of ASCII, U+0080 … U+009F, which terminals obey as well, and the
/// marks that turn the direction of what follows. Bytes that are no UTF-8 become '?'. What is longer than `most` bytes
/// is cut and ends in "...".
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);
/// As much of a name as a message quotes.
inline constexpr std::size_t kShortText = 60;

/// The same for a text of several lines: line ends and tabs stay. All that is printed goes through it, a piece at a
/// time: the beginning of a character at the end of `text` is left in `rest`, which the next piece continues.
std::string printable_lines(std::string_view text, std::string& rest);

/// A value of a file as JSON in ASCII, at most kShortText characters of it.
std::string short_json(const nlohmann::ordered_json& value);
/// The same of a text: in quotes.
std::string in_quotes(std::string_view text);

}  // namespace convladder
