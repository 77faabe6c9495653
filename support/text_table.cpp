#include "support/text_table.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <sstream>
#include <utility>

namespace convladder {
namespace {

constexpr std::size_t kNarrowestText = 16;  // narrowest width to which texts are broken

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string spaces(width - std::min(width, shown_width(text)), ' ');
  return right ? spaces + text : text + spaces;
}

std::string joined(const std::vector<std::string>& cells, const std::vector<TextColumn>& columns,
                   const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line += "  ";
    line += padded(cells[i], widths[i], columns[i].number);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

/// The lines of a cell: broken at spaces, and a word that is wider than its column after a sign of its own.
std::vector<std::string> cell_lines(const std::string& text, std::size_t width) {
  constexpr std::string_view kSigns = "=,-_/:";
  std::vector<std::string> lines;
  for (std::string line : wrapped(text, width)) {
    while (shown_width(line) > width && width > 0) {
      const std::size_t sign = line.find_last_of(kSigns, width - 1);
      if (sign == std::string::npos) break;
      lines.push_back(line.substr(0, sign + 1));
      line.erase(0, sign + 1);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

/// One row as one or more lines.
std::string row_lines(const std::vector<std::string>& row, const std::vector<TextColumn>& columns,
                      const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    cells.push_back(columns[i].number ? std::vector{row[i]} : cell_lines(row[i], widths[i]));
    height = std::max(height, cells.back().size());
  }
  std::string lines;
  for (std::size_t line = 0; line < height; ++line) {
    std::vector<std::string> parts;
    for (const std::vector<std::string>& cell : cells) parts.push_back(line < cell.size() ? cell[line] : "");
    lines += joined(parts, columns, widths);
  }
  return lines;
}

/// Breaks a title: "conv_kernel" -> "conv_", "kernel"; "cudaMemGetInfo" -> "cuda", "Mem", "Get", "Info", joined as far
/// as they fit.
std::vector<std::string> broken_title(const std::string& title, std::size_t width) {
  std::vector<std::string> pieces(1);
  for (std::size_t i = 0; i < title.size(); ++i) {
    const bool capital = i > 0 && std::isupper(static_cast<unsigned char>(title[i])) != 0;
    if (capital || (i > 0 && title[i - 1] == '_')) pieces.emplace_back();
    pieces.back() += title[i];
  }
  std::vector<std::string> lines(1);
  for (const std::string& piece : pieces) {
    if (!lines.back().empty() && lines.back().size() + piece.size() > width) lines.emplace_back();
    lines.back() += piece;
  }
  return lines;
}

std::size_t whole_width(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), 2 * widths.size()) - 2;
}

/// The width of each column; `titles` holds the lines of each column's title.
std::vector<std::size_t> column_widths(const std::vector<TextColumn>& columns,
                                       const std::vector<std::vector<std::string>>& titles,
                                       const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = shown_width(columns[i].unit);
    for (const std::string& line : titles[i]) width = std::max(width, shown_width(line));
    for (const std::vector<std::string>& row : rows) width = std::max(width, shown_width(row[i]));
    widths.push_back(width);
  }
  return widths;
}

/// The lines of each title: one, or as many as keep it no wider than the numbers below it.
std::vector<std::vector<std::string>> title_lines(const std::vector<TextColumn>& columns,
                                                  const std::vector<std::vector<std::string>>& rows, bool broken) {
  std::vector<std::vector<std::string>> titles;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = shown_width(columns[i].unit);
    for (const std::vector<std::string>& row : rows) width = std::max(width, shown_width(row[i]));
    titles.push_back(broken && columns[i].number ? broken_title(columns[i].title, width)
                                                 : std::vector{columns[i].title});
  }
  return titles;
}

/// Narrows the widest column of texts until the table fits.
void narrow_texts(const std::vector<TextColumn>& columns, std::size_t most_columns, std::vector<std::size_t>& widths) {
  const std::size_t all = whole_width(widths);
  std::size_t widest = columns.size();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].number && (widest == columns.size() || widths[i] > widths[widest])) widest = i;
  }
  if (all <= most_columns || widest == columns.size()) return;
  const std::size_t narrowest = std::max(shown_width(columns[widest].title), kNarrowestText);
  widths[widest] = std::max(narrowest, widths[widest] - std::min(widths[widest], all - most_columns));
}

}  // namespace

TextColumn left(std::string title, std::string unit) { return {std::move(title), std::move(unit), false}; }

TextColumn right(std::string title, std::string unit, bool spare) {
  return {std::move(title), std::move(unit), true, spare};
}

std::size_t shown_width(const std::string& text) {
  // The continuation bytes of UTF-8 take no column.
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (shown_width(line) + 1 + shown_width(word) <= width) {
      line += ' ';
      line += word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string hanging(const std::string& lead, const std::string& text, std::size_t most_columns) {
  std::string lines;
  std::string before = lead;
  for (const std::string& line : wrapped(text, most_columns - std::min(most_columns, lead.size()))) {
    lines += before + line + '\n';
    before.assign(lead.size(), ' ');
  }
  return lines;
}

std::string indented(const std::string& text, std::size_t columns, std::size_t most_columns) {
  std::string lines;
  for (const std::string& line : wrapped(text, most_columns - columns)) {
    lines += std::string(columns, ' ') + line + '\n';
  }
  return lines;
}

std::string plural(std::size_t count, std::string_view one, std::string_view many) {
  std::string text = std::to_string(count) + ' ';
  text += count == 1 || many.empty() ? one : many;
  return count != 1 && many.empty() ? text + 's' : text;
}

std::string text_table(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& rows,
                       std::size_t most_columns) {
  if (columns.empty()) return {};
  std::vector<std::vector<std::string>> titles = title_lines(columns, rows, false);
  std::vector<std::size_t> widths = column_widths(columns, titles, rows);
  if (whole_width(widths) > most_columns) {
    titles = title_lines(columns, rows, true);
    widths = column_widths(columns, titles, rows);
    narrow_texts(columns, most_columns, widths);
  }
  std::vector<std::string> units;
  std::size_t title_height = 1;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    units.push_back(columns[i].unit);
    title_height = std::max(title_height, titles[i].size());
  }
  std::string text;
  for (std::size_t line = 0; line < title_height; ++line) {
    std::vector<std::string> parts;
    for (const std::vector<std::string>& title : titles) {
      const std::size_t blank = title_height - title.size();  // a title's last line is directly above the numbers
      parts.push_back(line < blank ? "" : title[line - blank]);
    }
    text += joined(parts, columns, widths);
  }
  if (std::ranges::any_of(units, [](const std::string& unit) { return !unit.empty(); })) {
    text += joined(units, columns, widths);
  }
  for (const std::vector<std::string>& row : rows) text += row_lines(row, columns, widths);
  return text;
}

std::string csv_quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace convladder
