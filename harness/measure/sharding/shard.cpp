#include "harness/measure/sharding/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <system_error>

#include "harness/measure/machine/environment.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "harness/measure/sharding/sentinels.hpp"
#include "harness/measure/sharding/shard_json.hpp"
#include "support/errors.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

/// SHA-256 of the sources of stages in a ladder's folder, and of those from outside; empty without any.
std::string sources_of(const std::vector<CaseGroup>& plan) {
  std::set<std::string> parts;
  for (const CaseGroup& group : plan) {
    for (const PlannedCase& planned : group.cases) {
      if (std::string own = made_of(planned); !own.empty()) {
        parts.insert(fmt::format("{} {}", planned.variant.info.name, own));
      }
    }
  }
  if (parts.empty()) return {};
  std::string all;
  for (const std::string& part : parts) all += part + '\n';
  return sha256_hex(all);
}

/// Cases that were timed, or would have been, on one of these machines.
std::set<std::string> cases_from(const std::vector<CaseOnMachine>& recorded, const std::vector<std::string>& nodes) {
  std::set<std::string> ids;
  for (const CaseOnMachine& one : recorded) {
    if (one.counted) continue;  // counters are the same everywhere
    if (std::ranges::find(nodes, one.node) != nodes.end()) ids.insert(one.id);
  }
  return ids;
}

/// The timed cases of other machines in groups that are not finished; adds a line for each group.
std::set<std::string> cases_of_unfinished_groups(const std::vector<CaseOnMachine>& recorded,
                                                 const std::vector<CaseGroup>& groups,
                                                 const std::set<std::string>& gone, std::vector<std::string>& notes) {
  std::map<std::string, const CaseOnMachine*> left;
  for (const CaseOnMachine& one : recorded) {
    if (!gone.contains(one.id)) left[one.id] = &one;
  }
  std::set<std::string> ids;
  for (const CaseGroup& group : groups) {
    if (!group.has_clock) continue;
    const bool finished = std::ranges::all_of(
        group.cases, [&](const PlannedCase& planned) { return !planned.runs() || left.contains(planned.id); });
    if (finished) continue;
    std::string elsewhere;
    for (const PlannedCase& planned : group.cases) {
      const auto found = left.find(planned.id);
      if (found == left.end() || !found->second->was_run || found->second->here) continue;
      elsewhere = found->second->node;
      ids.insert(planned.id);
    }
    if (!elsewhere.empty()) {
      notes.push_back(fmt::format("{} was begun on {}: its cases are measured together, so all of them again here",
                                  group_id(group), elsewhere));
    }
  }
  return ids;
}

}  // namespace

std::string group_id(const CaseGroup& group) {
  return fmt::format("{}/{}/{}", group.device, group.work.name(), group.work.shape.batch);
}

RunPlan make_run_plan(const RunOptions& options, const std::vector<CaseGroup>& plan, const std::vector<double>& seconds,
                      const ImageSet& images, int shards) {
  const RecordContent content = RunRecord::content(options, {}, plan, images);
  RunPlan made{.file = {},
               .id = {},
               .program = planned_program(),
               .options = options,
               .dataset = dataset_text(images),
               .variants = variants_text(content),
               .made_of = sources_of(plan),
               .shards = shards,
               .sentinels = choose_sentinels(plan),
               .groups = {}};
  for (std::size_t i = 0; i < plan.size(); ++i) {
    GroupOfPlan group{.id = group_id(plan[i]), .shard = 0, .predicted_seconds = seconds.at(i), .cases = {}};
    group.shard = shard_of(group.id, shards);
    for (const PlannedCase& planned : plan[i].cases) group.cases.push_back(planned.id);
    made.groups.push_back(std::move(group));
  }
  made.id = id_of_plan(made);
  return made;
}

int shard_number(const std::string& text, const RunPlan& plan) {
  const int last = plan.shards - 1;
  if (!text.empty()) {
    const std::size_t slash = text.find('/');
    if (slash != std::string::npos &&
        parse_whole_number("--shard", text.substr(slash + 1), 1, kMostShards) != plan.shards) {
      throw UserError(fmt::format("--shard {}: {} has {}", text, plan.file.string(), plural(plan.shards, "shard")));
    }
    return parse_whole_number("--shard", text.substr(0, slash), 0, last);
  }
  for (const char* const name : {"SLURM_ARRAY_TASK_ID", "SLURM_PROCID"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return parse_whole_number(name, value, 0, last);
  }
  throw UserError(fmt::format("--plan: which shard? --shard K/{} says it, K from 0 to {}", plan.shards, last));
}

void require_as_planned(const RunPlan& plan, const std::vector<CaseGroup>& now, const ImageSet& images) {
  const auto differs = [&plan](const std::string& what) {
    return UserError(fmt::format("{}: {}; plan anew", plan.file.string(), what));
  };
  if (const std::string data = data_difference(plan.dataset, dataset_text(images)); !data.empty()) throw differs(data);
  for (std::size_t i = 0; i < std::max(plan.groups.size(), now.size()); ++i) {
    const std::string then = i < plan.groups.size() ? plan.groups[i].id : "nothing";
    const std::string today = i < now.size() ? group_id(now[i]) : "nothing";
    if (then != today) throw differs(fmt::format("{} was planned where {} would be now", then, today));
    const std::vector<std::string>& cases = plan.groups[i].cases;
    for (std::size_t k = 0; k < std::max(cases.size(), now[i].cases.size()); ++k) {
      const std::string one = k < cases.size() ? cases[k] : "nothing";
      const std::string other = k < now[i].cases.size() ? now[i].cases[k].id : "nothing";
      if (one != other) throw differs(fmt::format("{} was planned where {} would be now", one, other));
    }
  }
  if (plan.made_of != sources_of(now))
    throw differs("a source of a stage, its problem or its compiler is not the same");
}

OpenedShard open_shard(const RunPlan& plan, int shard, const std::vector<CaseGroup>& groups, RecordContent content,
                       const std::vector<std::string>& not_from) {
  if (std::ranges::find(not_from, node_name()) != not_from.end()) {
    throw UserError(fmt::format("--not-from {}: this is that machine", node_name()));
  }
  describe_shard(content, plan, shard);
  const fs::path folder = plan.shard_folder(shard);
  std::error_code ignored;
  if (!fs::exists(folder / kShardKind.file(), ignored)) {
    return {Record::create(folder, kShardKind, content), {}};
  }
  OpenedShard opened{Record::open(folder, kShardKind, RunRecord::check), {}};
  if (!is_shard_of(opened.record, plan, shard)) {
    throw UserError(
        fmt::format("{} is a shard of another plan than {}", opened.record.file().string(), plan.file.string()));
  }
  const std::vector<CaseOnMachine> recorded = cases_on_machines(opened.record);
  const std::set<std::string> unwanted = cases_from(recorded, not_from);
  if (!unwanted.empty()) {
    opened.notes.push_back(fmt::format("{} measured on {} again", plural(unwanted.size(), "case"),
                                       fmt::to_string(fmt::join(not_from, ", "))));
  }
  const std::set<std::string> elsewhere = cases_of_unfinished_groups(recorded, groups, unwanted, opened.notes);
  opened.record.drop([&](const std::string& id) { return unwanted.contains(id) || elsewhere.contains(id); });
  opened.record.go_on(content);
  return opened;
}

}  // namespace convladder
