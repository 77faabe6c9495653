#include "support/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "support/printable.hpp"

namespace convladder {
namespace {

using Kind = ReportLine::Kind;

constexpr std::size_t kEntryIndent = 2;
constexpr std::size_t kDetailIndent = 4;  // beyond that of its item

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, shown_width(line));
  return widest;
}

std::string shifted(const std::string& text, std::size_t indent) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) result += std::string(indent, ' ') + line + '\n';
  return result;
}

/// The table without the columns that are left out where there is little room.
ReportTable without_spare(const ReportTable& table) {
  ReportTable narrow{{}, std::vector<std::vector<std::string>>(table.rows.size())};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].spare) continue;
    narrow.columns.push_back(table.columns[i]);
    for (std::size_t row = 0; row < table.rows.size(); ++row) narrow.rows[row].push_back(table.rows[row][i]);
  }
  return narrow;
}

std::string block_text(const ReportTable& table, std::size_t most_columns) {
  std::string text = text_table(table.columns, table.rows, most_columns - table.indent);
  if (widest_line(text) > most_columns && std::ranges::any_of(table.columns, &TextColumn::spare)) {
    const ReportTable narrow = without_spare(table);
    text = text_table(narrow.columns, narrow.rows, most_columns - table.indent);
  }
  return shifted(text, table.indent);
}

/// The line in place of what is not shown.
std::string others_text(std::size_t count, const char* what, std::size_t indent) {
  return fmt::format("{}{} more: --verbose\n", std::string(indent, ' '), plural(count, what));
}

/// Whether the block is one of a list: an item, a note, or a single line that is laid out already.
bool is_of_list(const std::variant<ReportLine, ReportTable>& block) {
  const auto* const line = std::get_if<ReportLine>(&block);
  if (line == nullptr || line->kind == Kind::paragraph) return false;
  return line->kind != Kind::literal || line->text.find('\n') == line->text.size() - 1;
}

std::string block_text(const ReportLine& line, std::size_t most_columns) {
  if (line.kind == Kind::literal) return line.text;
  if (line.kind == Kind::note) return hanging("", "note: " + line.text, most_columns);
  std::string text = hanging(line.lead, line.strong + line.text, most_columns);
  for (const std::string& detail : line.details) {
    text += indented(detail, line.lead.size() + kDetailIndent, most_columns);
  }
  return text;
}

/// A table with its first rows, and the number of the others. One more would take as much room as that line.
std::string shown_text(const ReportTable& table, std::size_t most_columns, std::size_t most_shown) {
  if (table.rows.size() <= most_shown || table.rows.size() - most_shown == 1) return block_text(table, most_columns);
  ReportTable first = table;
  first.rows.resize(most_shown);
  return block_text(first, most_columns) +
         others_text(table.rows.size() - most_shown, "row", table.indent + kEntryIndent);
}

std::string shown_text(const ReportLine& line, std::size_t most_columns, std::size_t /*most_shown*/) {
  return block_text(line, most_columns);
}

/// Text in which HTML and Markdown's marks mean nothing.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|>#~").find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

std::string block_markdown(const ReportTable& table) {
  std::string text = "|";
  std::string line = "\n|";
  for (const TextColumn& column : table.columns) {
    text += ' ' + escaped(column.unit.empty() ? column.title : column.title + ", " + column.unit) + " |";
    line += column.number ? "--:|" : ":--|";
  }
  text += line;
  for (const std::vector<std::string>& row : table.rows) {
    text += "\n|";
    for (const std::string& cell : row) text += ' ' + escaped(cell) + " |";
  }
  return text + '\n';
}

std::string block_markdown(const ReportLine& line) {
  if (line.kind == Kind::literal) return shifted(line.text, 4);  // a block of code
  const std::string text = (line.strong.empty() ? "" : "**" + escaped(line.strong) + "**") + escaped(line.text);
  if (line.kind == Kind::paragraph) return text + '\n';
  std::string items;
  for (const std::string& detail : line.details) items += "- " + text + ": " + escaped(detail) + '\n';
  return line.details.empty() ? "- " + text + '\n' : items;
}

std::string csv_cell(const std::string& text) {
  return text.find_first_of(",\"\r\n") == std::string::npos ? text : csv_quoted(text);
}

std::string csv_line(const std::vector<std::string>& cells, std::string_view line_end) {
  std::string line;
  for (const std::string& cell : cells) line += csv_cell(cell) + ',';
  if (!line.empty()) line.pop_back();
  return line.append(line_end);
}

}  // namespace

void ReportSection::paragraph(std::string text, std::string lead, std::string strong) {
  blocks.emplace_back(ReportLine{Kind::paragraph, std::move(text), std::move(lead), std::move(strong)});
}

void ReportSection::item(std::string text, std::string lead, std::string strong) {
  blocks.emplace_back(ReportLine{Kind::item, std::move(text), std::move(lead), std::move(strong)});
}

void ReportSection::entry(std::string text, std::vector<std::string> details) {
  blocks.emplace_back(ReportLine{Kind::item, std::move(text), std::string(kEntryIndent, ' '), {}, std::move(details)});
}

void ReportSection::note(std::string text) { blocks.emplace_back(ReportLine{Kind::note, std::move(text)}); }

void ReportSection::notes(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) note(text);
}

void ReportSection::literal(std::string lines) { blocks.emplace_back(ReportLine{Kind::literal, std::move(lines)}); }

void ReportSection::table(std::vector<TextColumn> columns, std::vector<std::vector<std::string>> rows,
                          std::size_t indent) {
  blocks.emplace_back(ReportTable{std::move(columns), std::move(rows), indent});
}

ReportSection& Report::section(std::string heading, Shown shown) {
  return sections.emplace_back(ReportSection{std::move(heading), shown});
}

std::string as_text(const Report& report, std::size_t most_columns, std::size_t most_shown) {
  std::string text;
  for (const ReportSection& section : report.sections) {
    if (section.shown == Shown::in_markdown || section.empty()) continue;
    if (!text.empty()) text += '\n';
    if (!section.heading.empty()) text += indented(section.heading, 0, most_columns);
    for (std::size_t at = 0, items = 0; at < section.blocks.size(); ++at) {
      const auto& block = section.blocks[at];
      items = is_of_list(block) ? items + 1 : 0;
      if (items <= most_shown)
        text += std::visit([&](const auto& one) { return shown_text(one, most_columns, most_shown); }, block);
      const bool ends = at + 1 == section.blocks.size() || !is_of_list(section.blocks[at + 1]);
      if (ends && items > most_shown) text += others_text(items - most_shown, "line", kEntryIndent);
    }
  }
  return text;
}

std::string as_markdown(const Report& report) {
  std::string text = report.title.empty() ? "" : "## " + escaped(report.title) + '\n';
  bool in_list = false;
  const auto add = [&](const std::string& block, bool is_item) {
    if (!text.empty() && !(in_list && is_item)) text += '\n';
    text += block;
    in_list = is_item;
  };
  for (const ReportSection& section : report.sections) {
    if (section.shown == Shown::in_text) continue;
    if (!section.heading.empty()) add("### " + escaped(section.heading) + '\n', false);
    for (const auto& block : section.blocks) {
      const auto* const line = std::get_if<ReportLine>(&block);
      add(std::visit([](const auto& one) { return block_markdown(one); }, block),
          line != nullptr && (line->kind == Kind::item || line->kind == Kind::note));
    }
  }
  return text;
}

std::string as_csv(const ReportTable& table, std::string_view line_end) {
  std::vector<std::string> titles;
  for (const TextColumn& one : table.columns) {
    titles.push_back(one.unit.empty() ? one.title : one.title + " (" + one.unit + ")");
  }
  std::string text = csv_line(titles, line_end);
  for (const std::vector<std::string>& row : table.rows) text += csv_line(row, line_end);
  return text;
}

}  // namespace convladder
