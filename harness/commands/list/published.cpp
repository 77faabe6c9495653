// `convladder list --published`: figures that others published for the same networks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "harness/commands/list/topics.hpp"
#include "harness/measure/profile/profile_text.hpp"
#include "harness/measure/records/published.hpp"
#include "support/errors.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

/// The number as it was published: "0.000477", and not 4.77e-04.
std::string cell_text(const PublishedCell& cell) {
  if (const auto* const text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* const truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "no";
  const auto* const number = std::get_if<double>(&cell);
  if (number == nullptr) return {};
  std::string text = fmt::format("{:.9f}", *number);  // no figure has more digits
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string published_table_text(const PublishedTable& table) {
  std::string text;
  std::vector<TextColumn> columns;
  for (const PublishedColumn& column : table.columns) columns.push_back({column.name, column.unit, true});
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (std::holds_alternative<std::string>(row[i])) columns[i].number = false;
      rows.back().push_back(cell_text(row[i]));
    }
  }
  text += text_table(columns, rows, kTextColumns);
  return text;
}

std::string heading(const PublishedTable& table) {
  const std::string kind = table.kind == table.name || table.kind != "profile" ? "" : table.kind + ": ";
  return fmt::format("{}{}{}", kind, table.name, table.command.empty() ? "" : fmt::format(" ({})", table.command));
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells) {
    const bool plain = cell.find_first_of(",\"\n") == std::string::npos;
    quoted.push_back(plain ? cell : csv_quoted(cell));
  }
  return fmt::format("{}\n", fmt::join(quoted, ","));
}

std::string table_csv_text(const PublishedTable& table) {
  std::string text;
  std::vector<std::string> titles;
  for (const PublishedColumn& column : table.columns) {
    titles.push_back(column.unit.empty() ? column.name : fmt::format("{} ({})", column.name, column.unit));
  }
  text += csv_line(titles);
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const PublishedCell& cell : row) cells.push_back(cell_text(cell));
    text += csv_line(cells);
  }
  return text;
}

std::string published_list_text() {
  std::string text;
  std::vector<std::vector<std::string>> rows;
  for (const PublishedSource& source : published_sources()) {
    std::vector<std::string> kinds;
    for (const PublishedTable& table : source.tables) {
      const bool shown = table.kind == "layers" || table.kind == "launches";  // these say what was run, not how fast
      if (!shown && std::ranges::find(kinds, table.kind) == kinds.end()) kinds.push_back(table.kind);
    }
    rows.push_back({source.name, source.network, fmt::format("{}", fmt::join(kinds, ", ")),
                    source.device.empty() ? "not said" : source.device});
  }
  text += text_table({{"name", "", false}, {"network", "", false}, {"tables", "", false}, {"device", "", false}}, rows,
                     kTextColumns);
  text +=
      "\n" + hanging("",
                     "figures that others published, on their machines; 'convladder list --published NAME' shows the "
                     "tables of one publication");
  return text;
}

std::string source_text(const PublishedSource& source, const ProfileFormat& format) {
  std::string text;
  text += hanging("", source.title);
  text += fmt::format("network {}{}\n", source.network, source.batch ? fmt::format(", batch {}", *source.batch) : "");
  text += hanging("device ", source.device.empty() ? "not said" : source.device);
  for (const PublishedTable& table : source.tables) {
    text += fmt::format("\n{}\n", heading(table));
    if (!table.note.empty()) text += hanging("  ", table.note);
    if (table.profile) {
      text += profile_text(*table.profile, format);
    } else {
      text += published_table_text(table);
    }
  }
  if (!source.notes.empty()) text += "\nnotes\n";
  for (const auto& [kind, note] : source.notes) text += hanging(fmt::format("  {}: ", kind), note);
  return text;
}

std::string source_csv_text(const PublishedSource& source, const ProfileFormat& format) {
  std::string text;
  for (std::size_t i = 0; i < source.tables.size(); ++i) {
    const PublishedTable& table = source.tables[i];
    text += fmt::format("{}# {}: {}\n", i == 0 ? "" : "\n", source.name, heading(table));
    if (table.profile) {
      text += profile_text(*table.profile, format);
    } else {
      text += table_csv_text(table);
    }
  }
  return text;
}

}  // namespace

std::string published_listing(const std::string& name, const std::string& format, const PublishedLayout& layout) {
  const ProfileFormat profile{parse_profile_layout("--layout", layout.layout),
                              format == "csv" ? ProfileEncoding::csv : ProfileEncoding::text, layout.cut_percent,
                              layout.full_names};
  if (name.empty()) {
    if (format == "csv") throw UserError("--format csv: of which? 'convladder list --published' shows the names");
    return format == "json" ? published_list_json_text() : published_list_text();
  }
  if (format == "json") return published_json_text(name);
  return format == "csv" ? source_csv_text(published_source(name), profile)
                         : source_text(published_source(name), profile);
}

}  // namespace convladder
