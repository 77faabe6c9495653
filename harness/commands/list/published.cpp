// `convladder list --published`: figures that others published for the same networks.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/commands/list/topics.hpp"
#include "harness/measure/profile/profile_text.hpp"
#include "harness/measure/records/published.hpp"
#include "support/csv.hpp"
#include "support/errors.hpp"
#include "support/json_null.hpp"
#include "support/json_text.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// The number as it was published: "0.000477", and not 4.77e-04.
std::string cell_text(const ordered_json& cell) {
  if (cell.is_null()) return {};
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_boolean()) return cell.get<bool>() ? "yes" : "no";
  if (cell.is_number_integer()) return cell.dump();
  std::string text = fmt::format("{:.9f}", cell.get<double>());  // no figure has more digits
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
      if (row[i].is_string()) columns[i].number = false;
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
    for (const ordered_json& cell : row) cells.push_back(cell_text(cell));
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

ordered_json published_list_json() {
  ordered_json list = ordered_json::array();
  for (const PublishedSource& source : published_sources()) {
    ordered_json tables = ordered_json::array();
    for (const PublishedTable& table : source.tables) tables.push_back({{"name", table.name}, {"kind", table.kind}});
    list.push_back({{"name", source.name},
                    {"title", source.title},
                    {"network", source.network},
                    {"device", text_or_null(source.device)},
                    {"tables", std::move(tables)}});
  }
  return list;
}

}  // namespace

std::string published_listing(const std::string& name, const std::string& format, const PublishedLayout& layout) {
  const ProfileFormat profile{parse_profile_layout("--layout", layout.layout),
                              format == "csv" ? ProfileEncoding::csv : ProfileEncoding::text, layout.cut_percent,
                              layout.full_names};
  if (name.empty()) {
    if (format == "csv") throw UserError("--format csv: of which? 'convladder list --published' shows the names");
    return format == "json" ? json_text(published_list_json()) : published_list_text();
  }
  if (format == "json") return json_text(published_json(name));
  return format == "csv" ? source_csv_text(published_source(name), profile)
                         : source_text(published_source(name), profile);
}

}  // namespace convladder
