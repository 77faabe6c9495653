#include "harness/measure/sharding/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <system_error>

#include "harness/measure/isolation/status.hpp"
#include "harness/measure/machine/environment.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "harness/measure/sharding/planning.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"
#include "support/whole_number.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// The scheduler's job that a session belongs to; null outside of any.
ordered_json scheduler_json() {
  const std::string job = environment("SLURM_JOB_ID");
  if (job.empty()) return nullptr;
  ordered_json json = {{"name", "slurm"}, {"job", printable(job, kShortText)}};
  const std::string array = environment("SLURM_ARRAY_JOB_ID");
  if (!array.empty()) {
    json["array_task"] = printable(fmt::format("{}_{}", array, environment("SLURM_ARRAY_TASK_ID")), kShortText);
  }
  const std::string restarts = environment("SLURM_RESTART_COUNT");
  json["restarts"] = printable(restarts.empty() ? "0" : restarts, kShortText);
  return json;
}

ordered_json session_json() {
  ordered_json session = {{"machine", machine_json()}};
  if (ordered_json scheduler = scheduler_json(); !scheduler.is_null()) session["scheduler"] = std::move(scheduler);
  return session;
}

/// Tells where the recorded cases were measured.
class WhereMeasured {
 public:
  WhereMeasured(const ordered_json& record, const std::string& file) {
    const JsonPlace context = JsonPlace(record, file).at("context");
    machines_ = context.at("machines").list();
    for (const JsonPlace& session : context.at("sessions").list()) {
      sessions_.push_back(session.at("machine").whole<std::size_t>(0, machines_.size() - 1));
    }
  }

  const ordered_json& machine(const ordered_json& one_case) const {
    return machines_.at(sessions_.at(one_case.at("session").get<std::size_t>())).json();
  }
  std::string node(const ordered_json& one_case) const {
    return printable(text_of(machine(one_case), "node"), kShortText);
  }

 private:
  static std::string text_of(const ordered_json& json, const char* name) { return json.value(name, ""); }

  std::vector<JsonPlace> machines_;
  std::vector<std::size_t> sessions_;
};

bool was_run(const ordered_json& one_case) {
  return was_run(status_from_name(one_case.at("status").get<std::string>()).value());
}

/// Cases that were timed, or would have been, on one of these machines.
std::set<std::string> cases_from(const ordered_json& record, const std::string& file,
                                 const std::vector<std::string>& nodes) {
  std::set<std::string> ids;
  if (nodes.empty()) return ids;
  const WhereMeasured where(record, file);
  for (const ordered_json& one : record.at("cases")) {
    const bool counted = !one.at("counters").is_null();  // counters are the same everywhere
    if (!counted && std::ranges::find(nodes, where.node(one)) != nodes.end()) ids.insert(one.at("id"));
  }
  return ids;
}

/// The timed cases of other machines in groups that are not finished; adds a line for each group.
std::set<std::string> cases_of_unfinished_groups(const ordered_json& record, const std::string& file,
                                                 const std::vector<CaseGroup>& groups,
                                                 const std::set<std::string>& gone, std::vector<std::string>& notes) {
  const WhereMeasured where(record, file);
  const ordered_json here = machine_json();
  std::map<std::string, const ordered_json*> recorded;
  for (const ordered_json& one : record.at("cases")) {
    const std::string id = one.at("id");
    if (!gone.contains(id)) recorded[id] = &one;
  }
  std::set<std::string> ids;
  for (const CaseGroup& group : groups) {
    if (!group.has_clock) continue;
    const bool finished = std::ranges::all_of(
        group.cases, [&](const PlannedCase& planned) { return !planned.runs() || recorded.contains(planned.id); });
    if (finished) continue;
    std::string elsewhere;
    for (const PlannedCase& planned : group.cases) {
      const auto found = recorded.find(planned.id);
      if (found == recorded.end() || !was_run(*found->second) || where.machine(*found->second) == here) continue;
      elsewhere = where.node(*found->second);
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
    if (const std::string value = environment(name); !value.empty()) return parse_whole_number(name, value, 0, last);
  }
  throw UserError(fmt::format("--plan: which shard? --shard K/{} says it, K from 0 to {}", plan.shards, last));
}

void require_planned_program(const RunPlan& plan) {
  const ordered_json now = planned_program();
  for (const auto& [name, value] : plan.program.items()) {
    const ordered_json other = now.contains(name) ? now.at(name) : ordered_json();
    if (other != value) {
      throw UserError(fmt::format("{} was made by another build of this program ({}: {} then, {} now)",
                                  plan.file.string(), printable(name, kShortText), short_json(value),
                                  short_json(other)));
    }
  }
}

void require_as_planned(const RunPlan& plan, const std::vector<CaseGroup>& now, const ordered_json& dataset) {
  const auto differs = [&plan](const std::string& what) {
    return UserError(fmt::format("{}: {}; plan anew", plan.file.string(), what));
  };
  if (plan.dataset != dataset) {
    throw differs(fmt::format("the data are not those of the plan ({} then, {} now)", short_json(plan.dataset),
                              short_json(dataset)));
  }
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
  const ordered_json of_shard = {{"plan", plan.id}, {"number", shard}, {"of", plan.shards}};
  content.context = record_part({{"shard", of_shard}});
  content.session = record_part(session_json());
  const fs::path folder = plan.shard_folder(shard);
  std::error_code ignored;
  if (!fs::exists(folder / kShardKind.file(), ignored)) {
    return {Record::create(folder, kShardKind, content), {}};
  }
  OpenedShard opened{Record::open(folder, kShardKind, RunRecord::check), {}};
  const ordered_json& json = opened.record.json();
  const std::string file = opened.record.file().string();
  if (JsonPlace(json, file).at("context").at("shard").json() != of_shard) {
    throw UserError(fmt::format("{} is a shard of another plan than {}", file, plan.file.string()));
  }
  const std::set<std::string> unwanted = cases_from(json, file, not_from);
  if (!unwanted.empty()) {
    opened.notes.push_back(fmt::format("{} measured on {} again", plural(unwanted.size(), "case"),
                                       fmt::to_string(fmt::join(not_from, ", "))));
  }
  const std::set<std::string> elsewhere = cases_of_unfinished_groups(json, file, groups, unwanted, opened.notes);
  opened.record.drop([&](const ordered_json& one) {
    const std::string id = one.at("id");
    return unwanted.contains(id) || elsewhere.contains(id);
  });
  opened.record.go_on(content);
  return opened;
}

}  // namespace convladder
