// `convladder plan`: splits a run into shards for many machines; writes plan.json.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/run/run_choice.hpp"
#include "harness/commands/run/run_loop.hpp"
#include "harness/measure/cases/cases_at_a_time.hpp"
#include "harness/measure/cases/probe.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/plan/run_material.hpp"
#include "harness/measure/records/record_file.hpp"
#include "harness/measure/sharding/shard.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/folder_lock.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlanFooter = R"(examples:
  convladder plan --all --batch 10,100,1000 --shards 64 --output results/big
  convladder run --plan results/big --shard 3/64       on any machine, as often as it takes; K runs from 0 to 63
  convladder merge results/big                         one record of all shards: results/big/run.json
  scripts/slurm.sh plan results/big --shards 64 --all  the same on a cluster: docs/use/shards.md

Cases that are compared (the same layer, batch and device) stay in one shard.

exit codes: 0 the plan is written - 3 bad input, or it could not be written - 130 interrupted)";

struct PlanArguments {
  const CLI::App* command = nullptr;
  RunChoice choice;
  int shards = 0;
  std::string output;
  bool dry_run = false;
};

void add_plan_options(CLI::App& plan, PlanArguments& a) {
  a.command = &plan;
  add_run_choice(plan, a.choice);
  plan.add_option("--shards", a.shards, "parts, each of which one process runs")
      ->check(CLI::Range(1, kMostShards))
      ->required()
      ->group("Parts");
  plan.add_option("--output", a.output, "folder for plan.json and the shards' records (default results/<host>-<time>)")
      ->group("Where");
  plan.add_flag("--dry-run", a.dry_run, "write nothing")->group("Where");
}

/// Names all devices, so that every machine takes the same ones, whichever this one has.
void name_devices(RunOptions& options) {
  for (const DeviceKind& kind : chosen_devices(options.devices, DefaultDevices::of_every_family)) {
    if (std::ranges::find(options.devices, kind.name) == options.devices.end()) {
      options.devices.emplace_back(kind.name);
    }
  }
}

/// The predicted seconds of each group. Where a device is missing, its cases count as if it were as fast as this
/// processor.
std::vector<double> seconds_of_groups(const std::vector<CaseGroup>& plan, const RunOptions& options,
                                      const ImageSet& images) {
  Estimator estimator(options);
  probe_variants(plan, options, images, estimator);
  std::vector<double> seconds;
  for (const CaseGroup& group : plan) {
    double sum = estimator.group_seconds(group);
    for (PlannedCase planned : group.cases) {
      planned.skipped.clear();
      sum += estimator.case_seconds(planned);
    }
    seconds.push_back(sum);
  }
  return seconds;
}

void print_plan(const RunPlan& plan) {
  std::size_t cases = 0;
  std::set<int> used;
  for (const GroupOfPlan& group : plan.groups) {
    cases += group.cases.size();
    used.insert(group.shard);
  }
  const SecondsOfPlan seconds = seconds_of(plan);
  const std::size_t empty = static_cast<std::size_t>(plan.shards) - used.size();
  fmt::print("{} in {} that are measured together, in {}{}\n", plural(cases, "case"),
             plural(plan.groups.size(), "group"), plural(used.size(), "shard"),
             empty == 0 ? "" : fmt::format(" (of {}; the others are empty)", plan.shards));
  fmt::print("predicted: {} in all, {} for the longest shard, on a machine like this one\n", duration_text(seconds.all),
             duration_text(seconds.longest));
}

/// Writes like create_file_atomically, so that a kill leaves no half of it; nobody else writes into the folder
/// meanwhile.
void write_plan(const RunPlan& plan) {
  std::error_code error;
  fs::create_directories(plan.folder(), error);
  if (error) {
    throw UserError(
        fmt::format("cannot create the folder {}: {}", plan.folder().string(), system_error_text(error.value())));
  }
  const FolderLock lock = FolderLock::of_file(plan.file, WhileLocked::refuse);
  remove_unfinished_files(plan.file);
  try {
    create_file_atomically(plan.file, run_plan_text(plan));
  } catch (const FileIsThere&) {
    throw UserError(
        fmt::format("{} already exists: its shards belong to it; use another --output", plan.file.string()));
  }
}

int plan_command(PlanArguments& a, const CommandLine& /*command_line*/) {
  apply_run_choice(*a.command, a.choice);
  RunOptions& options = a.choice.options;
  if (!options.data_folder.empty()) options.data_folder = fs::absolute(options.data_folder).string();
  name_devices(options);
  std::error_code ignored;
  if (!a.output.empty() && fs::exists(fs::path(a.output) / "plan.json", ignored)) {
    throw UserError(fmt::format("{} already exists: its shards belong to it; use another --output",
                                (fs::path(a.output) / "plan.json").string()));
  }
  const std::vector<CaseGroup> groups = make_plan(options);
  const ImageSet images = load_images(options.data_folder, options.seed, largest_batch_of(groups));
  RunPlan plan = make_run_plan(options, groups, seconds_of_groups(groups, options, images), images, a.shards);
  print_plan(plan);
  for (const CaseGroup& group : groups) {
    const std::string why = why_no_room(group.device, group.work.shape);
    if (why.empty() || std::ranges::none_of(group.cases, &PlannedCase::runs)) continue;
    fmt::print("{} on {}: a machine like this one would skip it now: {}\n", group.work.name(), group.device, why);
  }
  if (a.dry_run) return kExitOk;
  plan.file = (a.output.empty() ? make_default_folder() : fs::path(a.output)) / "plan.json";
  write_plan(plan);
  const std::string folder = plan.folder().string();
  fmt::print(
      "{}\n'convladder run --plan {} --shard K/{}' runs a shard, K from 0 to {}; 'convladder merge {}' ends it\n",
      plan.file.string(), folder, plan.shards, plan.shards - 1, folder);
  return kExitOk;
}

const CommandRegistration plan_registration({.name = "plan",
                                             .group = CommandGroup::in_parts,
                                             .help = "plan a run in shards, write plan.json",
                                             .footer = kPlanFooter,
                                             .add = command_of<PlanArguments, add_plan_options, plan_command>,
                                             .needs_proc = true});

}  // namespace
}  // namespace convladder
