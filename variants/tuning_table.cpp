#include "variants/tuning_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "variants/problem.hpp"

namespace convladder {

using nlohmann::ordered_json;

const std::vector<EmbeddedFile>& embedded_tuning();  // variants/tuning/*.json, by cmake/EmbedFiles.cmake

namespace {

std::optional<int> number_or_every(const JsonPlace& place, const char* what) {
  if (place.is_null()) return std::nullopt;
  if (!place.json().is_number_integer() || place.whole<std::int64_t>() < 1) {
    place.expected(fmt::format("a whole number above 0, or null for every {}", what));
  }
  return place.whole(1, INT32_MAX);
}

TuningEntry parse_entry(const JsonPlace& place) {
  TuningEntry entry;
  if (place.has("layer")) entry.layer = place.at("layer").text();
  if (place.has("found")) entry.found = json_line(place.at("found").json());
  try {
    entry.size = parse_size(built_in_problem(kDefaultProblem), place.at("shape").text());
  } catch (const std::invalid_argument& error) {
    place.at("shape").fail(error.what());
  }
  if (const JsonPlace machine = place.at("machine"); machine.is_there()) entry.machine = machine.text();
  entry.batch = number_or_every(place.at("batch"), "batch");
  if (const JsonPlace threads = place.at("threads"); threads.is_there()) {
    entry.threads = number_or_every(threads, "number of threads");
  }
  try {
    entry.configuration = Configuration::parse(place.at("configuration").text());
  } catch (const std::invalid_argument& error) {
    place.at("configuration").fail(error.what());
  }
  return entry;
}

std::vector<TuningTable> embedded_tables() {
  std::vector<TuningTable> tables;
  for (const EmbeddedFile& file : embedded_tuning()) tables.push_back(parse_tuning_table(file.content, file.name));
  return tables;
}

}  // namespace

const Configuration* TuningTable::find(const ProblemSize& size, std::string_view machine, int threads) const {
  const Configuration* found = nullptr;
  for (const TuningEntry& entry : entries) {
    if (entry.size.values != size.values || (!entry.machine.empty() && entry.machine != machine)) continue;
    if (entry.threads.value_or(threads) != threads) continue;
    if (entry.batch == size.batch) return &entry.configuration;
    if (!entry.batch) found = &entry.configuration;
  }
  return found;
}

TuningTable parse_tuning_table(std::string_view text, const std::string& file) {
  const ordered_json json = parse_json(text, file, "a tuning table");
  const JsonPlace place(json, file);
  if (place.at("schema_version").text() != "1.0") place.at("schema_version").expected("\"1.0\"");
  TuningTable table{place.at("family").text(), place.at("variant").text(), {}};
  for (const JsonPlace& one : place.at("entries").list()) {
    TuningEntry entry = parse_entry(one);
    for (const TuningEntry& before : table.entries) {
      if (before.size == entry.size && before.batch == entry.batch && before.machine == entry.machine &&
          before.threads == entry.threads) {
        one.fail(fmt::format("{} with this batch occurs twice", size_name(entry.size)));
      }
    }
    table.entries.push_back(std::move(entry));
  }
  return table;
}

namespace {

ordered_json json_of(const TuningEntry& entry) {
  ordered_json json = ordered_json::object();
  if (!entry.layer.empty()) json["layer"] = entry.layer;
  json["shape"] = size_name(entry.size);
  json["batch"] = or_null(entry.batch);
  if (!entry.machine.empty()) json["machine"] = entry.machine;
  if (entry.threads) json["threads"] = *entry.threads;
  json["configuration"] = entry.configuration.text();
  if (!entry.found.empty()) json["found"] = parse_json(entry.found, "found", "a note");
  return json;
}

}  // namespace

std::string tuning_table_text(TuningTable table) {
  std::ranges::stable_sort(table.entries, {}, [](const TuningEntry& one) {
    return std::tuple(one.layer, size_name(one.size), one.batch.value_or(0), one.machine, one.threads.value_or(0));
  });
  std::string text = fmt::format(
      "{{\n \"schema_version\": \"1.0\",\n \"kind\": \"tuning table\",\n \"family\": \"{}\",\n \"variant\": \"{}\",\n"
      " \"entries\": [\n",
      table.family, table.variant);
  for (std::size_t i = 0; i < table.entries.size(); ++i) {
    text += fmt::format("  {}{}\n", json_line(json_of(table.entries[i])), i + 1 < table.entries.size() ? "," : "");
  }
  return text + " ]\n}\n";
}

std::string found_text(const FoundConfiguration& found) {
  ordered_json json{{"kind", found.kind},
                    {"device", found.device},
                    {"gpu", text_or_null(found.gpu)},
                    {"batch", found.batch},
                    {"unit", found.unit},
                    {"score", found.score},
                    {"score_of_model", or_null(found.score_of_model)},
                    {"by_model", found.by_model},
                    {"tried", found.tried},
                    {"program", found.program},
                    {"seed", found.seed}};
  if (found.side_by_side) json["side_by_side"] = *found.side_by_side;
  return json_line(json);
}

const TuningTable* tuning_table(std::string_view family, std::string_view variant) {
  static const std::vector<TuningTable> tables = embedded_tables();
  for (const TuningTable& table : tables) {
    if (table.family == family && table.variant == variant) return &table;
  }
  return nullptr;
}

}  // namespace convladder
