#include "harness/commands/run/run_shard.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>

#include "harness/commands/run/run_loop.hpp"
#include "harness/commands/run/run_preview.hpp"
#include "harness/measure/cases/google_engine.hpp"
#include "harness/measure/cases/stage_device.hpp"
#include "harness/measure/plan/run_material.hpp"
#include "harness/measure/sharding/shard.hpp"
#include "harness/measure/sharding/shard_json.hpp"
#include "support/errors.hpp"
#include "support/interruption.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

/// The groups that hold the plan's sentinels, without all other cases.
std::vector<CaseGroup> sentinel_groups(const std::vector<CaseGroup>& all, const RunPlan& plan) {
  std::vector<CaseGroup> groups;
  for (const CaseGroup& group : all) {
    for (const PlannedCase& planned : group.cases) {
      if (!planned.runs() || std::ranges::find(plan.sentinels, planned.id) == plan.sentinels.end()) continue;
      groups.push_back({group.work, group.device, {planned}, group.has_clock});
      groups.back().cases.front().contends = false;
    }
  }
  return groups;
}

std::vector<CaseGroup> groups_of_shard(const std::vector<CaseGroup>& all, int shard, int shards) {
  std::vector<CaseGroup> groups;
  for (const CaseGroup& group : all) {
    if (shard_of(group_id(group), shards) == shard) groups.push_back(group);
  }
  return groups;
}

void print_end(const RunRecord& record, int shard, const RunPlan& plan, bool was_complete) {
  const std::vector<RecordedCase>& cases = record.figures().cases;
  const auto ok = std::ranges::count_if(cases, &RecordedCase::ok);
  const auto failed = std::ranges::count_if(cases, &RecordedCase::failed);
  const std::string failures = failed == 0 ? "" : fmt::format(", {} failed", failed);
  fmt::print("shard {} of {}{}: {}, {} ok{}\n{}\n", shard, plan.shards, was_complete ? " (finished before)" : "",
             plural(cases.size(), "case"), ok, failures, record.file().string());
}

}  // namespace

void add_shard_options(CLI::App& run, ShardArguments& a) {
  run.add_option("--plan", a.plan, "run a part of what 'convladder plan' planned: plan.json, or its folder")
      ->group("Part of a plan");
  run.add_option("--shard", a.shard,
                 "which part: K/N, K from 0 to N-1 (default: SLURM_ARRAY_TASK_ID, or SLURM_PROCID of a step)")
      ->group("Part of a plan");
  run.add_option("--not-from", a.not_from,
                 "measure again what the machine of this name measured; not on it; may be repeated")
      ->allow_extra_args(false)
      ->group("Part of a plan");
}

void refuse_without_plan(const ShardArguments& a) {
  if (!a.shard.empty()) throw UserError("--shard: of which plan? --plan names it");
  if (!a.not_from.empty()) throw UserError("--not-from: of which plan? --plan names it");
}

int run_shard(const ShardArguments& a, const RunInvocation& invocation) {
  allow_only(*invocation.record.command, {"--plan", "--shard", "--not-from", "--dry-run", "--quiet", "--verbose"},
             "--plan: what is run is in the plan");
  const RunPlan plan = read_run_plan(a.plan);
  const int shard = shard_number(a.shard, plan);
  require_planned_program(plan);
  const RunOptions& options = plan.options;
  if (options.untrusted) StageDevice::trust_nobody();
  initialize_google_benchmark(options.google_benchmark_flags);
  const std::vector<CaseGroup> all = make_plan(options);
  const ImageSet images = load_images(options.data_folder, options.seed, largest_batch_of(all));
  require_as_planned(plan, all, images);
  const std::vector<CaseGroup> groups = groups_of_shard(all, shard, plan.shards);
  if (groups.empty()) {
    fmt::print("shard {} of {} has no cases\n", shard, plan.shards);
    return kExitOk;
  }
  if (invocation.record.dry_run) return list_cases(groups, options, images);

  advise_on_interrupt(
      fmt::format("'convladder run --plan {} --shard {}/{}' continues", plan.file.string(), shard, plan.shards));
  RecordContent content = RunRecord::content(options, invocation.command_line, groups, images);
  OpenedShard opened = open_shard(plan, shard, groups, content, a.not_from);
  for (const std::string& line : opened.notes) fmt::print(stderr, "convladder: {}\n", line);
  const bool was_complete = opened.record.is_complete();
  RunRecord record(std::move(opened.record));
  if (!was_complete) {
    run_groups(groups, images, options,
               {.verbose = invocation.verbose, .lines = invocation.record.quiet ? nullptr : stdout}, record,
               sentinel_groups(all, plan));
  }
  if (!invocation.record.quiet) print_end(record, shard, plan, was_complete);
  return record.any_failed() ? kExitCasesFailed : kExitOk;
}

}  // namespace convladder
