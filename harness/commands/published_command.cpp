#include "harness/commands/published_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/profile/profile_text.hpp"
#include "harness/records/published.hpp"
#include "support/csv.hpp"
#include "support/errors.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr const char* kPublishedFooter = R"(examples:
  convladder published                        what there is
  convladder published fa17-ladder            all its tables; profiles as nvprof printed them
  convladder published sp18-milestone --layout nsys --cut 90
  convladder published fa18-batches --csv > fa18.csv
  convladder published alexnet-batch-sweep --json

These figures were published by others and measured on their machines; they are printed as in their reports.)";

/// As the file has it: "0.000477", and not 4.77e-04.
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

void print_wrapped(const std::string& lead, const std::string& text) {
  std::string indent = lead;
  for (const std::string& line : wrapped(text, kTextColumns - lead.size())) {
    fmt::print("{}{}\n", indent, line);
    indent.assign(lead.size(), ' ');
  }
}

void print_table(const PublishedTable& table) {
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
  fmt::print("{}", text_table(columns, rows, kTextColumns));
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

void print_table_csv(const PublishedTable& table) {
  std::vector<std::string> titles;
  for (const PublishedColumn& column : table.columns) {
    titles.push_back(column.unit.empty() ? column.name : fmt::format("{} ({})", column.name, column.unit));
  }
  fmt::print("{}", csv_line(titles));
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const ordered_json& cell : row) cells.push_back(cell_text(cell));
    fmt::print("{}", csv_line(cells));
  }
}

void print_list() {
  std::vector<std::vector<std::string>> rows;
  for (const PublishedSource& source : published_sources()) {
    std::vector<std::string> kinds;
    for (const PublishedTable& table : source.tables) {
      const bool shown = table.kind == "layers" || table.kind == "launches";  // of what, not how fast
      if (!shown && std::ranges::find(kinds, table.kind) == kinds.end()) kinds.push_back(table.kind);
    }
    rows.push_back({source.name, source.network, fmt::format("{}", fmt::join(kinds, ", ")),
                    source.device.empty() ? "not said" : source.device});
  }
  fmt::print("{}",
             text_table({{"name", "", false}, {"network", "", false}, {"tables", "", false}, {"device", "", false}},
                        rows, kTextColumns));
  fmt::print(
      "\nfigures that others published, on their machines; 'convladder published NAME' prints the tables of one "
      "publication\n");
}

void print_source(const PublishedSource& source, const ProfileFormat& format) {
  print_wrapped("", source.title);
  fmt::print("network {}{}\n", source.network, source.batch ? fmt::format(", batch {}", *source.batch) : "");
  print_wrapped("device ", source.device.empty() ? "not said" : source.device);
  for (const PublishedTable& table : source.tables) {
    fmt::print("\n{}\n", heading(table));
    if (!table.note.empty()) print_wrapped("  ", table.note);
    if (table.profile) {
      fmt::print("{}", profile_text(*table.profile, format));
    } else {
      print_table(table);
    }
  }
  if (!source.notes.empty()) fmt::print("\nnotes\n");
  for (const auto& [kind, text] : source.notes) print_wrapped(fmt::format("  {}: ", kind), text);
}

void print_source_csv(const PublishedSource& source, const ProfileFormat& format) {
  for (std::size_t i = 0; i < source.tables.size(); ++i) {
    const PublishedTable& table = source.tables[i];
    fmt::print("{}# {}: {}\n", i == 0 ? "" : "\n", source.name, heading(table));
    if (table.profile) {
      fmt::print("{}", profile_text(*table.profile, format));
    } else {
      print_table_csv(table);
    }
  }
}

ordered_json published_list_json() {
  ordered_json list = ordered_json::array();
  for (const PublishedSource& source : published_sources()) {
    ordered_json tables = ordered_json::array();
    for (const PublishedTable& table : source.tables) tables.push_back({{"name", table.name}, {"kind", table.kind}});
    list.push_back({{"name", source.name},
                    {"title", source.title},
                    {"network", source.network},
                    {"device", source.device.empty() ? ordered_json() : ordered_json(source.device)},
                    {"tables", std::move(tables)}});
  }
  return list;
}

}  // namespace

void add_published_options(CLI::App& published, PublishedArguments& arguments) {
  published.footer(kPublishedFooter);
  published.add_option("name", arguments.name, "which one (default: a list of all)");
  published.add_flag("--json", arguments.as_json, "as JSON, with every value as in the file");
  published.add_flag("--csv", arguments.as_csv, "as comma-separated values, a block for each table");
  published.add_option("--layout", arguments.layout, "layout of profiles: nvprof (default) or nsys");
  published.add_option("--cut", arguments.cut_percent,
                       "print rows of a profile until they reach this share of the time in percent (default 100)");
  published.add_flag("--full-names", arguments.full_names, "do not shorten kernel names");
}

int published_command(const PublishedArguments& arguments) {
  if (arguments.as_json && arguments.as_csv) throw UserError("--json and --csv: only one of them");
  if (!(arguments.cut_percent > 0 && arguments.cut_percent <= 100)) {
    throw UserError(fmt::format("--cut: expected a number above 0, up to 100, got {}", arguments.cut_percent));
  }
  const ProfileFormat format{parse_profile_layout("--layout", arguments.layout),
                             arguments.as_csv ? ProfileEncoding::csv : ProfileEncoding::text, arguments.cut_percent,
                             arguments.full_names};
  if (arguments.name.empty()) {
    if (arguments.as_csv) throw UserError("--csv: which one? 'convladder published' lists them");
    if (arguments.as_json) {
      fmt::print("{}\n", published_list_json().dump(1));
    } else {
      print_list();
    }
  } else if (arguments.as_json) {
    fmt::print("{}\n", published_json(arguments.name).dump(1));
  } else if (arguments.as_csv) {
    print_source_csv(published_source(arguments.name), format);
  } else {
    print_source(published_source(arguments.name), format);
  }
  return kExitOk;
}

}  // namespace convladder
