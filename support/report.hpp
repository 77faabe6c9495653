// The answer of a command: sections with headings, tables, paragraphs and notes. It is filled once, and written as text
// for a terminal or as Markdown for a review; a table alone is also written as comma-separated values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/text_table.hpp"

namespace convladder {

enum class Shown { everywhere, in_text, in_markdown };

/// A paragraph; an item of a list; a note, which is an item that text calls one; or lines that are laid out already.
struct ReportLine {
  enum class Kind { paragraph, item, note, literal };
  Kind kind = Kind::paragraph;
  std::string text;
  std::string lead{};                  ///< only in text: before its first line, and as many spaces before the others
  std::string strong{};                ///< before `text`, bold in Markdown
  std::vector<std::string> details{};  ///< of an item: below it in text, each an item "TEXT: DETAIL" in Markdown
};

struct ReportTable {
  std::vector<TextColumn> columns;
  std::vector<std::vector<std::string>> rows;  ///< a cell for each column
  std::size_t indent = 0;                      ///< in text
};

/// A reference to one ends with the next call of Report::section.
struct ReportSection {
  std::string heading{};  ///< empty: none
  Shown shown = Shown::everywhere;
  std::vector<std::variant<ReportLine, ReportTable>> blocks{};

  void paragraph(std::string text, std::string lead = {}, std::string strong = {});
  void item(std::string text, std::string lead = {}, std::string strong = {});
  /// An item that is indented, with details that are so by more.
  void entry(std::string text, std::vector<std::string> details);
  void note(std::string text);
  void notes(const std::vector<std::string>& texts);
  void literal(std::string lines);
  void table(std::vector<TextColumn> columns, std::vector<std::vector<std::string>> rows, std::size_t indent = 0);
  bool empty() const { return heading.empty() && blocks.empty(); }
};

struct Report {
  std::string title{};  ///< only in Markdown
  std::vector<ReportSection> sections{};

  /// Begins a section, which is not shown as long as it is empty.
  ReportSection& section(std::string heading = {}, Shown shown = Shown::everywhere);
};

/// The most rows of a table, and items or lines in a row, that a terminal shows without --verbose.
inline constexpr std::size_t kMostShown = 15;
inline constexpr std::size_t kAllShown = static_cast<std::size_t>(-1);

/// Lines of at most `most_columns` characters, unless a name or a table's numbers alone are wider; an empty line
/// between sections. Of longer tables and lists the first `most_shown` rows, and a line that counts the others.
std::string as_text(const Report& report, std::size_t most_columns = kTextColumns, std::size_t most_shown = kAllShown);

/// Any text is shown literally: HTML and marks are escaped.
std::string as_markdown(const Report& report);

/// A line of titles with their units, and one for each row (RFC 4180); cells are quoted only where that is necessary.
std::string as_csv(const ReportTable& table, std::string_view line_end = "\r\n");

}  // namespace convladder
