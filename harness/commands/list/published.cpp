// `convladder list --published`: figures that others published for the same networks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "harness/commands/list/topics.hpp"
#include "harness/measure/profile/profile_text.hpp"
#include "harness/measure/records/published.hpp"
#include "support/errors.hpp"
#include "support/report.hpp"

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

ReportTable report_table(const PublishedTable& table) {
  ReportTable result;
  for (const PublishedColumn& column : table.columns) result.columns.push_back({column.name, column.unit, true});
  for (const auto& row : table.rows) {
    std::vector<std::string>& cells = result.rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (std::holds_alternative<std::string>(row[i])) result.columns[i].number = false;
      cells.push_back(cell_text(row[i]));
    }
  }
  return result;
}

std::string heading(const PublishedTable& table) {
  const std::string kind = table.kind == table.name || table.kind != "profile" ? "" : table.kind + ": ";
  return fmt::format("{}{}{}", kind, table.name, table.command.empty() ? "" : fmt::format(" ({})", table.command));
}

Report published_list() {
  Report report;
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
  report.section().table({left("name"), left("network"), left("tables"), left("device")}, std::move(rows));
  report.section().paragraph(
      "figures that others published, on their machines; 'convladder list --published NAME' shows the tables of one "
      "publication");
  return report;
}

Report source_report(const PublishedSource& source, const ProfileFormat& format) {
  Report report;
  ReportSection& about = report.section(source.title);
  about.paragraph(
      fmt::format("network {}{}", source.network, source.batch ? fmt::format(", batch {}", *source.batch) : ""));
  about.paragraph(source.device.empty() ? "not said" : source.device, "device ");
  for (const PublishedTable& table : source.tables) {
    ReportSection& section = report.section(heading(table));
    if (!table.note.empty()) section.paragraph(table.note, "  ");
    if (table.profile) {
      section.literal(profile_text(*table.profile, format));
    } else {
      section.blocks.emplace_back(report_table(table));
    }
  }
  if (source.notes.empty()) return report;
  ReportSection& notes = report.section("notes");
  for (const auto& [kind, note] : source.notes) notes.paragraph(note, fmt::format("  {}: ", kind));
  return report;
}

std::string source_csv_text(const PublishedSource& source, const ProfileFormat& format) {
  std::string text;
  for (std::size_t i = 0; i < source.tables.size(); ++i) {
    const PublishedTable& table = source.tables[i];
    text += fmt::format("{}# {}: {}\n", i == 0 ? "" : "\n", source.name, heading(table));
    if (table.profile) {
      text += profile_text(*table.profile, format);
    } else {
      text += as_csv(report_table(table), "\n");
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
    return format == "json" ? published_list_json_text() : as_text(published_list());
  }
  if (format == "json") return published_json_text(name);
  return format == "csv" ? source_csv_text(published_source(name), profile)
                         : as_text(source_report(published_source(name), profile));
}

}  // namespace convladder
