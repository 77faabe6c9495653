#include "harness/measure/records/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "harness/measure/profile/profile_json.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/nearest_name.hpp"

namespace convladder {

using nlohmann::ordered_json;

const std::vector<EmbeddedFile>& embedded_published();  // results/published/*.json, by cmake/EmbedFiles.cmake

namespace {

constexpr std::array kKinds = {"op times", "program times", "profile", "sweep", "layers", "launches"};

PublishedColumn parse_column(const JsonPlace& place) {
  return {place.at("name").text(), place.at("unit").text_or_empty(), place.at("what").text_or_empty(),
          place.at("layer").text_or_empty()};
}

PublishedCell parse_cell(const JsonPlace& cell, const PublishedColumn& column) {
  if (cell.is_null()) return {};
  if (!column.what.empty()) return cell.number();
  if (column.name == "batch") return static_cast<double>(cell.count());
  if (cell.json().is_structured()) cell.expected("text or a number");
  if (cell.json().is_boolean()) return cell.truth();
  if (cell.json().is_string()) return cell.text();
  return cell.number();
}

void parse_rows(const JsonPlace& place, PublishedTable& table) {
  for (const JsonPlace& column : place.at("columns").list()) table.columns.push_back(parse_column(column));
  for (const JsonPlace& row : place.at("rows").list()) {
    const std::vector<JsonPlace> cells = row.list();
    if (cells.size() != table.columns.size()) row.expected(fmt::format("{} cells", table.columns.size()));
    table.rows.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) table.rows.back().push_back(parse_cell(cells[i], table.columns[i]));
  }
}

PublishedTable parse_table(const JsonPlace& place) {
  PublishedTable table;
  table.name = place.at("name").text();
  table.kind = place.at("kind").text();
  table.note = place.at("note").text_or_empty();
  table.command = place.at("command").text_or_empty();
  if (std::ranges::find(kKinds, table.kind) == kKinds.end()) {
    place.fail(unknown_name_message("kind", table.kind, {kKinds.begin(), kKinds.end()}));
  }
  if (table.kind != "profile") {
    parse_rows(place, table);
    return table;
  }
  table.profile = read_profile(place.at("profile"));
  return table;
}

/// The content of a cell; none where the table has no such column, or something else in it.
template <typename T>
std::optional<T> cell(const PublishedTable& table, std::size_t row, std::string_view column) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name != column) continue;
    if (const T* const found = std::get_if<T>(&table.rows[row][i])) return *found;
  }
  return std::nullopt;
}

/// A figure with the fields that all figures of a source have in common.
PublishedFigure figure_of(const PublishedSource& source) {
  PublishedFigure figure;
  figure.source = source.name;
  figure.network = source.network;
  figure.device = source.device;
  figure.batch = source.batch;
  return figure;
}

/// A figure with the fields that all figures of a row have in common.
PublishedFigure row_figure(const PublishedSource& source, const PublishedTable& table, std::size_t row) {
  PublishedFigure figure = figure_of(source);
  if (const std::optional<double> batch = cell<double>(table, row, "batch")) figure.batch = static_cast<int>(*batch);
  figure.stage = cell<std::string>(table, row, "stage").value_or("");
  figure.model = cell<std::string>(table, row, "model").value_or("");
  figure.approximate = cell<bool>(table, row, "approximate").value_or(false);
  return figure;
}

void append_row(const PublishedSource& source, std::size_t table_index, std::size_t row,
                std::vector<PublishedFigure>& figures) {
  const PublishedTable& table = source.tables[table_index];
  const PublishedFigure common = row_figure(source, table, row);
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const double* const value = std::get_if<double>(&table.rows[row][column]);
    if (table.columns[column].what.empty() || value == nullptr) continue;
    PublishedFigure figure = common;
    figure.layer = table.columns[column].layer;
    figure.what = table.columns[column].what;
    figure.unit = table.columns[column].unit;
    figure.value = *value;
    figure.path = fmt::format("/tables/{}/rows/{}/{}", table_index, row, column);
    figures.push_back(std::move(figure));
  }
}

std::vector<PublishedFigure> all_figures(const PublishedSource& source) {
  std::vector<PublishedFigure> figures;
  for (std::size_t index = 0; index < source.tables.size(); ++index) {
    const PublishedTable& table = source.tables[index];
    for (std::size_t row = 0; row < table.rows.size(); ++row) append_row(source, index, row, figures);
    if (!table.profile) continue;
    PublishedFigure figure = figure_of(source);
    figure.stage = table.name;
    figure.what = "profile";
    figure.path = fmt::format("/tables/{}/profile", index);
    figures.push_back(std::move(figure));
  }
  return figures;
}

const EmbeddedFile& embedded_file(std::string_view name) {
  return find_known("published table", name, embedded_published(),
                    [](const EmbeddedFile& file) { return file.name.substr(0, file.name.rfind('.')); });
}

}  // namespace

PublishedSource parse_published(std::string_view text, const std::string& file) {
  const ordered_json json = parse_json(text, file, "published figures");
  const JsonPlace place(json, file);
  PublishedSource source;
  source.name = place.at("name").text();
  source.title = place.at("title").text();
  source.network = place.at("network").text();
  source.device = place.at("device").text_or_empty();
  if (place.has("batch")) source.batch = place.at("batch").count();
  for (const JsonPlace& note : place.at("notes").list()) {
    source.notes.emplace_back(note.at("kind").text(), note.at("text").text());
  }
  for (const JsonPlace& table : place.at("tables").list()) source.tables.push_back(parse_table(table));
  return source;
}

const std::vector<PublishedSource>& published_sources() {
  static const std::vector<PublishedSource> sources = [] {
    std::vector<PublishedSource> parsed;
    for (const EmbeddedFile& file : embedded_published()) parsed.push_back(parse_published(file.content, file.name));
    std::ranges::sort(parsed, {}, &PublishedSource::name);
    return parsed;
  }();
  return sources;
}

const PublishedSource& published_source(std::string_view name) {
  embedded_file(name);  // names the known ones in its error
  return *std::ranges::find(published_sources(), name, &PublishedSource::name);
}

std::string published_json_text(std::string_view name) {
  const EmbeddedFile& file = embedded_file(name);
  return json_text(parse_json(file.content, file.name, "published figures"));
}

std::string published_list_json_text() {
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
  return json_text(list);
}

std::vector<PublishedFigure> published_figures(std::string_view network, int batch,
                                               std::optional<std::string_view> layer) {
  std::vector<PublishedFigure> figures;
  for (const PublishedSource& source : published_sources()) {
    if (source.network != network) continue;
    for (PublishedFigure& figure : all_figures(source)) {
      const bool of_batch = !figure.batch || *figure.batch == batch;
      const bool of_layer = !layer || figure.layer.empty() || figure.layer == *layer;
      if (of_batch && of_layer) figures.push_back(std::move(figure));
    }
  }
  return figures;
}

}  // namespace convladder
