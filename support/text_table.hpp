// Tables for the terminal: aligned columns, with long texts broken into several lines rather than cut.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// The width that a terminal, an e-mail and a printed page can show.
constexpr std::size_t kTextColumns = 100;

struct TextColumn {
  std::string title;
  std::string unit;     ///< on a line of its own below the titles; the line is omitted if no column has a unit
  bool number = false;  ///< whether cells are right-aligned, and never broken
  bool spare = false;   ///< whether a Report leaves the column out of a text that would be too wide with it
};

/// A column of texts, and one of numbers.
TextColumn left(std::string title, std::string unit = {});
TextColumn right(std::string title, std::string unit = {}, bool spare = false);

/// The width in characters, not bytes.
std::size_t shown_width(const std::string& text);

/// Columns are as wide as their content, with two spaces in between. If that is more than `most_columns` characters,
/// texts of the widest column are broken between words; a table whose numbers alone are wider stays so. Every row has a
/// cell for each column.
std::string text_table(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& rows,
                       std::size_t most_columns = kTextColumns);

/// The words of a text in lines of at most `width` characters, with longer words on lines of their own. At least one
/// line.
std::vector<std::string> wrapped(const std::string& text, std::size_t width);

/// Lines of at most `most_columns` characters: the first after `lead`, the others after as many spaces.
std::string hanging(const std::string& lead, const std::string& text, std::size_t most_columns = kTextColumns);

/// Lines of at most `most_columns` characters, each after `columns` spaces.
std::string indented(const std::string& text, std::size_t columns, std::size_t most_columns = kTextColumns);

/// A number with its noun: "1 case", "2 cases"; `many` is the plural if that is not `one` with an s.
std::string plural(std::size_t count, std::string_view one, std::string_view many = "");

/// The text as a quoted field of comma-separated values (RFC 4180).
std::string csv_quoted(const std::string& text);

}  // namespace convladder
