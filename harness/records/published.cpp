#include "harness/records/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "support/embedded_file.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/nearest_name.hpp"

namespace convladder {

using nlohmann::ordered_json;

const std::vector<EmbeddedFile>& embedded_published();  // results/published/*.json, by cmake/EmbedFiles.cmake

namespace {

constexpr std::array kKinds = {"op times", "program times", "profile", "sweep", "layers", "launches"};

using Place = JsonPlace;

PublishedColumn parse_column(const Place& place) {
  return {place.text("name"), place.text_or_empty("unit"), place.text_or_empty("what"), place.text_or_empty("layer")};
}

void parse_rows(const Place& place, PublishedTable& table) {
  for (std::size_t i = 0; i < place.list("columns").size(); ++i) {
    table.columns.push_back(parse_column(place.element("columns", i)));
  }
  for (const ordered_json& row : place.list("rows")) {
    const std::string name = fmt::format("rows[{}]", table.rows.size());
    if (!row.is_array() || row.size() != table.columns.size()) {
      place.fail(fmt::format("{}: expected a list of {} cells", name, table.columns.size()));
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      const ordered_json& cell = row[i];
      const std::string& column = table.columns[i].name;
      const bool figure = !table.columns[i].what.empty();
      if (cell.is_structured() || (figure && !cell.is_number() && !cell.is_null())) {
        place.fail(fmt::format("{}: {}: expected a {}", name, column, figure ? "number" : "text or a number"));
      }
      if (column == "batch" && !cell.is_null() &&
          !(cell.is_number_unsigned() && cell.get<std::uint64_t>() <= 1U << 30U)) {
        place.fail(fmt::format("{}: batch: expected a whole number", name));
      }
    }
    table.rows.emplace_back(row.begin(), row.end());
  }
}

PublishedTable parse_table(const Place& place) {
  PublishedTable table;
  table.name = place.text("name");
  table.kind = place.text("kind");
  table.note = place.text_or_empty("note");
  table.command = place.text_or_empty("command");
  if (std::ranges::find(kKinds, table.kind) == kKinds.end()) {
    place.fail(unknown_name_message("kind", table.kind, {kKinds.begin(), kKinds.end()}));
  }
  if (table.kind != "profile") {
    parse_rows(place, table);
    return table;
  }
  if (!place.json().contains("profile")) place.fail("profile: expected an object");
  try {
    table.profile = profile_from_json(place.json().at("profile"));
  } catch (const UserError& error) {
    place.fail(error.what());
  }
  return table;
}

/// A cell's content where the table has such a column, null otherwise.
const ordered_json* cell(const PublishedTable& table, std::size_t row, std::string_view column) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == column && !table.rows[row][i].is_null()) return &table.rows[row][i];
  }
  return nullptr;
}

std::string text_cell(const PublishedTable& table, std::size_t row, std::string_view column) {
  const ordered_json* const found = cell(table, row, column);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

/// What the figures of a row have in common.
PublishedFigure row_figure(const PublishedSource& source, const PublishedTable& table, std::size_t row) {
  PublishedFigure figure;
  figure.source = source.name;
  figure.network = source.network;
  figure.device = source.device;
  figure.batch = source.batch;
  if (const ordered_json* const batch = cell(table, row, "batch")) figure.batch = batch->get<int>();
  figure.stage = text_cell(table, row, "stage");
  figure.model = text_cell(table, row, "model");
  const ordered_json* const approximate = cell(table, row, "approximate");
  figure.approximate = approximate != nullptr && *approximate == true;
  return figure;
}

void append_row(const PublishedSource& source, std::size_t table_index, std::size_t row,
                std::vector<PublishedFigure>& figures) {
  const PublishedTable& table = source.tables[table_index];
  const PublishedFigure common = row_figure(source, table, row);
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const ordered_json& value = table.rows[row][column];
    if (table.columns[column].what.empty() || value.is_null()) continue;
    PublishedFigure figure = common;
    figure.layer = table.columns[column].layer;
    figure.what = table.columns[column].what;
    figure.unit = table.columns[column].unit;
    figure.value = value.get<double>();
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
    PublishedFigure figure;
    figure.source = source.name;
    figure.network = source.network;
    figure.device = source.device;
    figure.batch = source.batch;
    figure.stage = table.name;
    figure.what = "profile";
    figure.path = fmt::format("/tables/{}/profile", index);
    figures.push_back(std::move(figure));
  }
  return figures;
}

const EmbeddedFile& embedded_file(std::string_view name) {
  std::vector<std::string> known;
  for (const EmbeddedFile& file : embedded_published()) {
    known.push_back(file.name.substr(0, file.name.rfind('.')));
    if (known.back() == name) return file;
  }
  throw UserError(unknown_name_message("published table", name, known));
}

}  // namespace

PublishedSource parse_published(std::string_view text, const std::string& file) {
  ordered_json json;
  try {
    json = ordered_json::parse(text);
  } catch (const ordered_json::parse_error& error) {
    throw UserError(fmt::format("{}: byte {}: not JSON", file, error.byte));
  }
  const Place place(json, file);
  PublishedSource source;
  source.name = place.text("name");
  source.title = place.text("title");
  source.network = place.text("network");
  source.device = place.text_or_empty("device");
  if (json.contains("batch") && !json.at("batch").is_null()) {
    if (!json.at("batch").is_number_unsigned()) place.fail("batch: expected a whole number");
    source.batch = json.at("batch").get<int>();
  }
  for (std::size_t i = 0; i < place.list("notes").size(); ++i) {
    const Place note = place.element("notes", i);
    source.notes.emplace_back(note.text("kind"), note.text("text"));
  }
  for (std::size_t i = 0; i < place.list("tables").size(); ++i) {
    source.tables.push_back(parse_table(place.element("tables", i)));
  }
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

ordered_json published_json(std::string_view name) { return ordered_json::parse(embedded_file(name).content); }

const PublishedSource& published_source(std::string_view name) {
  embedded_file(name);  // says which names there are
  return *std::ranges::find(published_sources(), name, &PublishedSource::name);
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
