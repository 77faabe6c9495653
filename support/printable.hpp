// Makes texts from any source safe to show in a terminal and in Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace convladder {

/// Replaces every control character by a space: those of ASCII, U+0080 … U+009F, which terminals obey as well, and
/// marks that change the direction of the following text. Bytes that are no UTF-8 become '?'. A text longer than `most`
/// bytes is cut and ends in "...".
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);
/// The largest part of a name that a message quotes.
inline constexpr std::size_t kShortText = 60;

/// As `printable`, for a text of several lines: line ends and tabs stay. Everything that is printed goes through it, a
/// piece at a time: an incomplete character at the end of `text` is left in `rest`, which the next piece continues.
std::string printable_lines(std::string_view text, std::string& rest);

}  // namespace convladder
