#include "harness/measure/sweep/tuning_update.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "devices/cpu/cpu_microarchitecture.hpp"
#include "harness/measure/machine/program_facts.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/folder_lock.hpp"
#include "variants/tuning_table.hpp"

namespace convladder {

namespace {

std::filesystem::path table_file(const std::string& folder, const Sweep& sweep) {
  const VariantInfo& info = sweep.planned.variant.info;
  return std::filesystem::path(folder) / fmt::format("{}-{}.json", info.family, info.name);
}

/// The table in the file; an empty one if there is none.
TuningTable table_in(const std::filesystem::path& file, const Sweep& sweep) {
  const VariantInfo& info = sweep.planned.variant.info;
  if (!std::filesystem::exists(file)) return {std::string(info.family), std::string(info.name), {}};
  return parse_tuning_table(read_file_text(file.string()), file.string());
}

FoundConfiguration found_by(const Sweep& sweep, std::uint64_t seed) {
  const SweptConfiguration* const by_model = sweep.model_result();
  const ProgramFacts program = this_program();
  FoundConfiguration found{.kind = sweep.kind_text(),
                           .device = sweep.planned.device,
                           .gpu = sweep.gpu,
                           .batch = sweep.planned.work.shape.batch,
                           .unit = sweep.kind == ScoreKind::counted ? "cycles" : "ns",
                           .score = sweep.winner()->score->value,
                           .score_of_model = by_model == nullptr ? std::nullopt : std::optional(by_model->score->value),
                           .by_model = by_model == sweep.winner(),
                           .tried = sweep.results.size(),
                           .program = fmt::format("{} {}", program.name, program.version),
                           .seed = seed,
                           .side_by_side = std::nullopt};
  for (const Finalist& one : sweep.finals.value_or(std::vector<Finalist>())) {
    if (one.configuration == sweep.winner()->configuration) found.side_by_side = std::exp(one.change->estimate);
  }
  return found;
}

void replace_entry(TuningTable& table, const Sweep& sweep, bool every_batch,
                   const std::optional<Configuration>& configuration, std::uint64_t seed) {
  // The best configuration for a processor is the best for one microarchitecture, and the best division of a batch is
  // so for one number of threads; others' entries stay.
  const ProblemSize& shape = sweep.planned.work.shape;
  const bool on_processor = sweep.planned.variant.info.family == "cpu";
  TuningEntry entry{.layer = sweep.planned.work.name(),
                    .size = shape.with_batch(1),
                    .batch = every_batch ? std::nullopt : std::optional(shape.batch),
                    .machine = on_processor ? cpu_microarchitecture() : "",
                    .threads = on_processor && !every_batch ? std::optional(omp_get_max_threads()) : std::nullopt,
                    .configuration = {},
                    .found = {}};
  std::erase_if(table.entries, [&](const TuningEntry& one) {
    return one.size == entry.size && one.batch == entry.batch && one.machine == entry.machine &&
           one.threads == entry.threads;
  });
  if (!configuration) return;
  entry.configuration = *configuration;
  entry.found = found_text(found_by(sweep, seed));
  table.entries.push_back(std::move(entry));
}

}  // namespace

void check_tuning_tables(const std::string& folder, const std::vector<Sweep>& sweeps) {
  for (const Sweep& sweep : sweeps) static_cast<void>(table_in(table_file(folder, sweep), sweep));
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
    TuningTable table = table_in(file, sweep);
    if (!general.empty()) replace_entry(table, sweep, true, general, seed);
    replace_entry(table, sweep, false, batch_matters ? std::optional(best->configuration) : std::nullopt, seed);
    write_file_atomically(file, tuning_table_text(std::move(table)));
    if (std::ranges::find(files, file.string()) == files.end()) files.push_back(file.string());
  }
  return files;
}

}  // namespace convladder
