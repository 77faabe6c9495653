#include "support/markdown.hpp"

#include "support/printable.hpp"

namespace convladder {

std::string markdown_text(std::string_view text) {
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

std::string markdown_list(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "- " + markdown_text(line) + '\n';
  return text;
}

std::string markdown_table(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::string text = "|";
  std::string line = "\n|";
  for (const TextColumn& column : columns) {
    text += ' ' + markdown_text(column.unit.empty() ? column.title : column.title + ", " + column.unit) + " |";
    line += column.number ? "--:|" : ":--|";
  }
  text += line;
  for (const std::vector<std::string>& row : rows) {
    text += "\n|";
    for (const std::string& cell : row) text += ' ' + markdown_text(cell) + " |";
  }
  return text + '\n';
}

}  // namespace convladder
