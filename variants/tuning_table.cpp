#include "variants/tuning_table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "support/embedded_file.hpp"

namespace convladder {

using nlohmann::json;

const std::vector<EmbeddedFile>& embedded_tuning();  // variants/tuning/*.json, by cmake/EmbedFiles.cmake

namespace {

[[noreturn]] void fail(const std::string& place, const std::string& what) {
  throw TuningTableError(fmt::format("{}: {}", place, what));
}

const json& member(const json& object, const std::string& place, const char* name) {
  if (!object.is_object() || !object.contains(name)) fail(place, fmt::format("expected a member '{}'", name));
  return object.at(name);
}

std::string text(const json& object, const std::string& place, const char* name) {
  const json& value = member(object, place, name);
  if (!value.is_string()) fail(place, fmt::format("{}: expected a string", name));
  return value.get<std::string>();
}

TuningEntry parse_entry(const json& entry, const std::string& place) {
  TuningEntry result{.shape = text(entry, place, "shape"), .batch = {}, .configuration = {}};
  const json& batch = member(entry, place, "batch");
  if (batch.is_number_integer() && batch > 0 && batch <= INT32_MAX) {
    result.batch = batch.get<int>();
  } else if (!batch.is_null()) {
    fail(place, "batch: expected a whole number above 0, or null for every batch");
  }
  try {
    result.configuration = Configuration::parse(text(entry, place, "configuration"));
  } catch (const std::invalid_argument& error) {
    fail(place, fmt::format("configuration: {}", error.what()));
  }
  return result;
}

std::vector<TuningTable> embedded_tables() {
  std::vector<TuningTable> tables;
  for (const EmbeddedFile& file : embedded_tuning()) tables.push_back(parse_tuning_table(file.content, file.name));
  return tables;
}

}  // namespace

const Configuration* TuningTable::find(std::string_view shape, int batch) const {
  const Configuration* found = nullptr;
  for (const TuningEntry& entry : entries) {
    if (entry.shape != shape) continue;
    if (entry.batch == batch) return &entry.configuration;
    if (!entry.batch) found = &entry.configuration;
  }
  return found;
}

TuningTable parse_tuning_table(std::string_view text_of_file, const std::string& file) {
  json document;
  try {
    document = json::parse(text_of_file);
  } catch (const json::parse_error& error) {
    fail(file, fmt::format("no JSON: {}", error.what()));
  }
  const json& version = member(document, file, "schema_version");
  if (version != "1.0") fail(file, fmt::format("schema_version: expected \"1.0\", found {}", version.dump()));
  TuningTable table{text(document, file, "family"), text(document, file, "variant"), {}};
  const json& entries = member(document, file, "entries");
  if (!entries.is_array()) fail(file, "entries: expected a list");
  for (const json& entry : entries) {
    const std::string place = fmt::format("{}: entries[{}]", file, table.entries.size());
    TuningEntry one = parse_entry(entry, place);
    for (const TuningEntry& before : table.entries) {
      if (before.shape == one.shape && before.batch == one.batch) {
        fail(place, fmt::format("'{}' with this batch occurs twice", one.shape));
      }
    }
    table.entries.push_back(std::move(one));
  }
  return table;
}

const TuningTable* tuning_table(std::string_view family, std::string_view variant) {
  static const std::vector<TuningTable> tables = embedded_tables();
  for (const TuningTable& table : tables) {
    if (table.family == family && table.variant == variant) return &table;
  }
  return nullptr;
}

}  // namespace convladder
