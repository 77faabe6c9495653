// `convladder merge`: combines the shards of a plan into one record.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/run/run_summary.hpp"
#include "harness/measure/records/record.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "harness/measure/sharding/merged_record.hpp"
#include "harness/measure/sharding/merged_shards.hpp"
#include "harness/measure/sharding/run_plan.hpp"
#include "harness/measure/sharding/shard_json.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/folder_lock.hpp"
#include "support/progress.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCasesOfTables = 5000;

constexpr const char* kMergeFooter = R"(examples:
  convladder merge results/big                         results/big/run.json, once all shards are finished
  convladder merge results/big --partial               of what is there; it is not complete
  convladder report results/big/run.json

exit codes: 0 all planned cases are in the record - 1 and some of them failed - 2 a machine is off by its sentinel -
3 bad input, or nothing could be written - 4 shards are missing, not finished, there twice or of another plan -
130 interrupted. With 2 and 4 nothing is written, but with --partial.)";

struct MergeArguments {
  std::string plan;
  std::string output;
  bool partial = false;
  bool quiet = false;
  double sentinel_limit = kSentinelLimit;
};

void add_merge_options(CLI::App& merge, MergeArguments& a) {
  merge.add_option("DIR", a.plan, "the folder of a plan.json, with its shards")->required();
  merge.add_option("--output", a.output, "folder for run.json (default DIR)");
  merge.add_flag("--partial", a.partial,
                 "write what is there, but no times of machines that are off; it is not complete");
  merge
      .add_option("--sentinel-limit", a.sentinel_limit,
                  "part by which a machine's sentinel may differ from the others (default 0.1)")
      ->check(number_between(0.0, 100.0));
  merge.add_flag("--quiet", a.quiet, "no progress, no table");
}

/// Throws UserError unless the file is an earlier merge of this plan, which may be replaced.
void require_replaceable(const fs::path& file, const RunPlan& plan) {
  std::error_code ignored;
  if (fs::symlink_status(file, ignored).type() == fs::file_type::not_found) return;
  if (plan_of_merged(file) == plan.id) return;
  throw UserError(fmt::format("{} already exists, and is no merge of this plan; use another --output", file.string()));
}

void print_lines(const std::vector<std::string>& lines) {
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) fmt::print(stderr, "convladder: {}\n", lines[i]);
  if (lines.size() > most) fmt::print(stderr, "convladder: and {} more\n", lines.size() - most);
}

std::string machines_line(const MergedShards& shards) {
  const std::size_t machines = shards.machines().size();
  if (shards.kinds() < 2) return plural(machines, "machine");
  return fmt::format("{} of {} kinds: their times are not compared with each other", plural(machines, "machine"),
                     shards.kinds());
}

/// Prints the merged record; returns whether a case failed.
bool print_merged(const fs::path& file, const MergedShards& shards, bool quiet) {
  std::size_t written = 0;
  std::size_t failed = 0;
  for (const std::optional<CaseOfShard>& one : shards.cases()) {
    written += one ? 1 : 0;
    failed += one && one->failed ? 1 : 0;
  }
  if (quiet) return failed > 0;
  if (written <= kMostCasesOfTables) {
    print_summary(stdout, read_run_figures(file.string()), {}, {.tables = true, .verbose = false});
  }
  fmt::print("{} of {}, {}{}\n{}\n", plural(written, "case"), shards.cases().size(), machines_line(shards),
             failed == 0 ? "" : fmt::format(", {} failed", failed), file.string());
  return failed > 0;
}

int merge_command(MergeArguments& a, const CommandLine& command_line) {
  const RunPlan plan = read_run_plan(a.plan);
  const fs::path folder = a.output.empty() ? plan.folder() : fs::path(a.output);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw UserError(fmt::format("cannot create the folder {}: {}", folder.string(), system_error_text(error.value())));
  }
  const fs::path file = folder / kRunKind.file();
  const FolderLock lock = FolderLock::of_file(file, WhileLocked::refuse);
  remove_unfinished_files(file);
  require_replaceable(file, plan);

  Progress progress(nullptr, 1);
  if (!a.quiet) progress.show_part("reading the shards", 0, std::nullopt);
  MergedShards shards(plan, a.sentinel_limit);
  print_lines(shards.contradictions());
  if (!shards.contradictions().empty()) return kExitIncomplete;
  print_lines(shards.holes());
  print_lines(shards.doubts());
  const std::vector<std::string> off = shards.machines_off();
  print_lines(off);
  if (!shards.holes().empty() && !a.partial) return kExitIncomplete;
  if (!off.empty() && !a.partial) return kExitInconclusive;
  shards.leave_out_machines_off();
  write_merged_record(shards, file, command_line, [&](const char* what, double done) {
    if (!a.quiet) progress.show_part(what, done, std::nullopt);
  });
  const bool failed = print_merged(file, shards, a.quiet);
  if (failed) return kExitCasesFailed;
  if (!shards.holes().empty()) return kExitIncomplete;
  return off.empty() ? kExitOk : kExitInconclusive;
}

const CommandRegistration merge_registration({.name = "merge",
                                              .group = CommandGroup::in_parts,
                                              .help = "make one run.json of the shards of a plan",
                                              .footer = kMergeFooter,
                                              .add = command_of<MergeArguments, add_merge_options, merge_command>});

}  // namespace
}  // namespace convladder
