#include "harness/commands/run/run_cases.hpp"

#include "harness/commands/report_script.hpp"
#include "harness/commands/run/run_preview.hpp"
#include "harness/commands/run/run_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "harness/commands/run/end_interrupted_run.hpp"
#include "harness/commands/run/run_loop.hpp"
#include "harness/measure/cases/google_engine.hpp"
#include "harness/measure/cases/stage_device.hpp"
#include "harness/measure/isolation/status.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/plan/run_material.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "support/errors.hpp"
#include "support/interruption.hpp"
#include "support/standard_streams.hpp"

namespace convladder {
namespace {

/// Removes the record of a run that ended before any case was run: it holds nothing worth keeping.
void take_back(const RunRecord& record, bool folder_is_new) {
  const auto ran = [](const RecordedCase& one) { return was_run(one.status); };
  if (std::ranges::any_of(record.figures().cases, ran)) return;
  std::error_code error;
  std::filesystem::remove(record.file(), error);
  if (folder_is_new) std::filesystem::remove(record.file().parent_path(), error);  // if nothing else is in it
}

/// Checks the output file before hours of measuring, not after.
void check_google_output(const GoogleOutput& output) {
  if (output.file.empty()) return;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(output.file).parent_path();
  if (!std::filesystem::is_directory(folder, error)) {
    throw UserError(fmt::format("--benchmark_out={}: {} is not a folder", output.file, folder.string()));
  }
  if (std::filesystem::is_directory(output.file, error)) {
    throw UserError(fmt::format("--benchmark_out={}: expected a file name, found a folder", output.file));
  }
}

/// Refuses to resume a merged record: its missing cases belong to a shard.
void refuse_merged(const Record& record) {
  if (record.is_complete() || !record.was_merged()) return;
  const std::string folder = record.file().parent_path().string();
  throw UserError(fmt::format("{} was merged of shards: 'convladder run --plan {} --shard K/N' runs what is missing",
                              record.file().string(), folder));
}

/// The names of the stages that --with brings along, in their order.
std::vector<std::string> own_stages(const std::vector<CaseGroup>& plan, const RunOptions& options) {
  std::vector<std::string> names;
  for (const CaseGroup& group : plan) {
    for (const PlannedCase& one : group.cases) {
      const CompiledStage* const stage = one.variant.variant->compiled_stage();
      const std::string name(one.variant.info.name);
      if (stage == nullptr || std::ranges::find(names, name) != names.end()) continue;
      const std::string file = (stage->folder / stage->source.file).string();
      if (std::ranges::find(options.with, file) != options.with.end()) names.push_back(name);
    }
  }
  return names;
}

/// The stream for a line per case.
std::FILE* lines_of(const RunInvocation& invocation) {
  if (invocation.record.quiet) return nullptr;
  return invocation.google.console_format ? stderr : stdout;
}

}  // namespace

int run_cases(RunOptions options, const RunInvocation& invocation) {
  std::optional<Record> resumed = record_to_resume(invocation.record, {"--no-table", "--verbose"}, RunRecord::check);
  if (resumed) {
    refuse_merged(*resumed);
    options = read_run_options(resumed->options());
  }
  if (options.untrusted) StageDevice::trust_nobody();
  check_google_output(invocation.google);
  initialize_google_benchmark(options.google_benchmark_flags);  // refuses unknown flags before anything is run
  const std::vector<CaseGroup> plan = make_plan(options);
  const ImageSet images = load_images(options.data_folder, options.seed, largest_batch_of(plan));
  if (invocation.record.dry_run) return list_cases(plan, options, images);

  const bool is_new = !resumed;
  std::error_code error;
  const bool folder_is_new =
      invocation.record.output.empty() || !std::filesystem::exists(invocation.record.output, error);
  RunRecord record(begin_record(invocation.record, std::move(resumed),
                                RunRecord::content(options, invocation.command_line, plan, images)));
  TakenOver taken;
  if (is_new && !options.ladder.empty() && !invocation.no_reuse) taken = take_over_unchanged(record, plan, options);
  std::vector<std::string> notes;
  start_on_interrupt({kEndInterruptedRun, record.file().parent_path().string()});
  try {
    notes = run_groups(plan, images, options, {.verbose = invocation.verbose, .lines = lines_of(invocation)}, record);
  } catch (const MachineFault&) {
    throw;  // it can be resumed
  } catch (const UserError&) {
    if (is_new && !options.ladder.empty()) take_back(record, folder_is_new);
    throw;
  }
  if (!options.ladder.empty()) remember_run(record.file(), options);
  const std::vector<RecordedCase>& cases = record.figures().cases;
  write_google_output(invocation.google, cases);
  if (!invocation.record.quiet) {
    print_summary(invocation.google.console_format ? stderr : stdout, record.figures(), notes,
                  {.tables = !invocation.no_table && !invocation.google.console_format,
                   .verbose = invocation.verbose,
                   .own = own_stages(plan, options)});
  }
  if (!invocation.google.console_format) {
    const bool any_counted =
        std::ranges::any_of(cases, [](const RecordedCase& one) { return one.counters.has_value(); });
    if (any_counted && !options.ladder.empty() && !invocation.record.quiet) {
      fmt::print("'convladder explain {}' compares what was counted\n", record.file().string());
    }
    if (options.untrusted && !invocation.record.quiet) {
      for (const std::string& line : missing_protections()) fmt::print("{}\n", line);
      if (const std::string line = processors_of_untrusted_stages(); !line.empty()) fmt::print("{}\n", line);
    }
    if (taken.cases > 0) {
      const std::string them = taken.cases == 1 ? "1 case is" : fmt::format("{} cases are", taken.cases);
      fmt::print("{} taken from {}: nothing has changed there; --no-reuse measures all side by side\n", them,
                 taken.from.string());
    }
    fmt::print("{}\n", record.file().string());
    // Somebody who times a ladder of their own has no script that would draw it.
    if (!options.ladder.empty() && !invocation.record.quiet && !invocation.no_report) {
      std::fflush(stdout);
      draw_record(record.file());
    }
  }
  return record.any_failed() ? kExitCasesFailed : kExitOk;
}

}  // namespace convladder
