#include "harness/measure/sweep/tuning_update.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "devices/cpu/cpu_microarchitecture.hpp"
#include "harness/measure/machine/environment.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/folder_lock.hpp"
#include "support/json_text.hpp"
#include "variants/tuning_table.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

std::filesystem::path table_file(const std::string& folder, const Sweep& sweep) {
  const VariantInfo& info = sweep.planned.variant.info;
  return std::filesystem::path(folder) / fmt::format("{}-{}.json", info.family, info.name);
}

/// The entries of the file, if it exists.
std::vector<ordered_json> entries_of(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  const std::string text = read_file_text(file.string());
  static_cast<void>(parse_tuning_table(text, file.string()));
  return parse_json(text, file.string(), "a tuning table").at("entries").get<std::vector<ordered_json>>();
}

/// How the winner was found, with the score of the model's choice beside it.
ordered_json found_json(const Sweep& sweep, std::uint64_t seed) {
  ordered_json side_by_side;  // the winner's time over that of the model's choice
  for (const Finalist& one : sweep.finals.value_or(std::vector<Finalist>())) {
    if (one.configuration == sweep.winner()->configuration) side_by_side = std::exp(one.change->estimate);
  }
  const SweptConfiguration* const by_model = sweep.model_result();
  const ordered_json program = program_json();
  ordered_json found{{"kind", sweep.kind_text()},
                     {"device", sweep.planned.device},
                     {"gpu", text_or_null(sweep.gpu)},
                     {"batch", sweep.planned.work.shape.batch},
                     {"unit", sweep.kind == ScoreKind::counted ? "cycles" : "ns"},
                     {"score", sweep.winner()->score->value},
                     {"score_of_model", by_model == nullptr ? ordered_json() : ordered_json(by_model->score->value)},
                     {"by_model", by_model == sweep.winner()},
                     {"tried", sweep.results.size()},
                     {"program", fmt::format("{} {}", program.value("name", ""), program.value("version", ""))},
                     {"seed", seed}};
  if (!side_by_side.is_null()) found["side_by_side"] = side_by_side;
  return found;
}

void replace_entry(std::vector<ordered_json>& entries, const Sweep& sweep, bool every_batch,
                   const std::optional<Configuration>& configuration, std::uint64_t seed) {
  const ProblemSize& shape = sweep.planned.work.shape;
  const ordered_json batch = every_batch ? ordered_json() : ordered_json(shape.batch);
  // The best configuration for a processor is the best for one microarchitecture, and the best division of a batch is
  // so for one number of threads; others' entries stay.
  const bool on_processor = sweep.planned.variant.info.family == "cpu";
  const std::string machine = on_processor ? cpu_microarchitecture() : "";
  const ordered_json threads = on_processor && !every_batch ? ordered_json(omp_get_max_threads()) : ordered_json();
  std::erase_if(entries, [&](const ordered_json& one) {
    return one.at("shape") == size_name(shape) && one.at("batch") == batch && one.value("machine", "") == machine &&
           one.value("threads", ordered_json()) == threads;
  });
  if (!configuration) return;
  ordered_json& entry = entries.emplace_back(
      ordered_json{{"layer", sweep.planned.work.name()}, {"shape", size_name(shape)}, {"batch", batch}});
  if (!machine.empty()) entry["machine"] = machine;
  if (!threads.is_null()) entry["threads"] = threads;
  entry["configuration"] = configuration->text();
  entry["found"] = found_json(sweep, seed);
}

/// The text of a table, with a line for each entry, so that a change of one shows as that.
std::string table_text(const Sweep& sweep, std::vector<ordered_json> entries) {
  std::ranges::stable_sort(entries, {}, [](const ordered_json& one) {
    return std::tuple(one.value("layer", ""), one.at("shape").get<std::string>(),
                      one.at("batch").is_null() ? 0 : one.at("batch").get<int>(), one.value("machine", ""),
                      one.value("threads", 0));
  });
  const VariantInfo& info = sweep.planned.variant.info;
  std::string text = fmt::format(
      "{{\n \"schema_version\": \"1.0\",\n \"kind\": \"tuning table\",\n \"family\": \"{}\",\n \"variant\": \"{}\",\n"
      " \"entries\": [\n",
      info.family, info.name);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    text += fmt::format("  {}{}\n", json_line(entries[i]), i + 1 < entries.size() ? "," : "");
  }
  return text + " ]\n}\n";
}

}  // namespace

void check_tuning_tables(const std::string& folder, const std::vector<Sweep>& sweeps) {
  for (const Sweep& sweep : sweeps) static_cast<void>(entries_of(table_file(folder, sweep)));
}

std::vector<std::string> update_tuning_tables(const std::string& folder, const std::vector<Sweep>& sweeps,
                                              std::uint64_t seed) {
  std::vector<std::string> files;
  for (const Sweep& sweep : sweeps) {
    const SweptConfiguration* const best = sweep.winner();
    if (best == nullptr) continue;
    Configuration general = best->configuration;
    for (const std::string& name : sweep.found.of_batch) general = general.without(name);
    const bool batch_matters = std::ranges::any_of(sweep.found.of_batch, [&](const std::string& name) {
      return best->configuration.value(name) != sweep.found.by_model.value(name);
    });
    const std::filesystem::path file = table_file(folder, sweep);
    const FolderLock lock = FolderLock::of_file(file, WhileLocked::wait);  // other programs' entries are read once
                                                                           // written
    remove_unfinished_files(file);
    std::vector<ordered_json> entries = entries_of(file);
    if (!general.empty()) replace_entry(entries, sweep, true, general, seed);
    replace_entry(entries, sweep, false, batch_matters ? std::optional(best->configuration) : std::nullopt, seed);
    write_file_atomically(file, table_text(sweep, entries));
    if (std::ranges::find(files, file.string()) == files.end()) files.push_back(file.string());
  }
  return files;
}

}  // namespace convladder
