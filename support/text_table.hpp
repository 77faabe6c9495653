// Tables for the terminal: aligned columns, and long texts in several lines rather than cut.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// What a terminal, an e-mail and a printed page take.
constexpr std::size_t kTextColumns = 100;

struct TextColumn {
  std::string title;
  std::string unit;     ///< in a line of its own below the titles; the line is left out where no column has one
  bool number = false;  ///< right-aligned, and never broken
};

/// Two spaces between columns, which are as wide as their content. If that is more than `most_columns` characters,
/// texts of the widest column are broken between words; a table whose numbers alone are wider stays so. Every row has a
/// cell for each column.
std::string text_table(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& rows,
                       std::size_t most_columns = kTextColumns);

/// The words of a text in lines of at most `width` characters, a longer word in a line of its own. At least one line.
std::vector<std::string> wrapped(const std::string& text, std::size_t width);

/// Lines of at most `most_columns` characters, the first behind `lead`, the others behind as many spaces.
std::string hanging(const std::string& lead, const std::string& text, std::size_t most_columns = kTextColumns);

/// The same as lines of a text of at most `most_columns` characters, each behind `columns` spaces.
std::string indented(const std::string& text, std::size_t columns, std::size_t most_columns = kTextColumns);

/// "note: LINE" in lines, for each.
std::string notes_text(const std::vector<std::string>& notes);

/// "1 case", "2 cases"; `many` where that is not `one` with an s.
std::string plural(std::size_t count, std::string_view one, std::string_view many = "");

}  // namespace convladder
